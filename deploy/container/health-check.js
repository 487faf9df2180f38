// The health check of both images: exit 0 while the server accepts requests. Follows the settings of the exchange, or of the
// gateway with the argument `gateway`.
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'

const { env } = process
const exchange = () => ({
  host: env.AEX_OPERATOR_HOST,
  port: env.AEX_OPERATOR_PORT || '8081',
  tls: env.AEX_TLS_CERT,
})
// Behind proxies that end TLS, its health is on loopback.
const gateway = () => ({
  host: env.AEX_GATEWAY_TRUSTED_PROXIES && !env.AEX_GATEWAY_TLS_CERT ? '127.0.0.1' : env.AEX_GATEWAY_HOST,
  port: env.AEX_GATEWAY_ADMIN_PORT || '8091',
  tls: env.AEX_GATEWAY_TLS_CERT,
})
const { host, port, tls } = process.argv[2] === 'gateway' ? gateway() : exchange()
const LIMIT_MS = 4_000

// The certificate names the public address; this check stays on the machine and sends nothing secret.
const options = {
  host: [undefined, '0.0.0.0', '::', ''].includes(host) ? '127.0.0.1' : host,
  port,
  path: '/readyz',
  timeout: LIMIT_MS,
  rejectUnauthorized: false,
}
const request = (tls ? overHttps : overHttp)(options, (response) => {
  response.resume()
  process.exitCode = response.statusCode === 200 ? 0 : 1
})
request.on('timeout', () => request.destroy(new Error('no answer in time')))
request.on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
request.end()
