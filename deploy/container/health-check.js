// The health check of the image: exit 0 while the exchange accepts requests. Follows the settings of the service.
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'

const { AEX_OPERATOR_HOST = '127.0.0.1', AEX_OPERATOR_PORT = '8081', AEX_TLS_CERT } = process.env
const host = ['0.0.0.0', '::', ''].includes(AEX_OPERATOR_HOST) ? '127.0.0.1' : AEX_OPERATOR_HOST
const LIMIT_MS = 4_000

// The certificate names the public address; this check stays on the machine and sends nothing secret.
const options = {
  host,
  port: AEX_OPERATOR_PORT,
  path: '/readyz',
  timeout: LIMIT_MS,
  rejectUnauthorized: false,
}
const request = (AEX_TLS_CERT ? overHttps : overHttp)(options, (response) => {
  response.resume()
  process.exitCode = response.statusCode === 200 ? 0 : 1
})
request.on('timeout', () => request.destroy(new Error('no answer in time')))
request.on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
request.end()
