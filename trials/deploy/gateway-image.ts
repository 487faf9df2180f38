import { request } from 'node:https'
import { freePorts, testAuthority } from '@agent-exchange/testkit'
import { composeDatabase } from './compose-database.ts'
import { startImage } from './start-image.ts'

const SCRAPE_MS = 10_000

/** Role of the database, master key and TLS are those of the compose file. */
export async function startGatewayImage(folder: string, content: string): Promise<string> {
  await using database = await composeDatabase('gateway')
  const [api = 0, admin = 0, webhooks = 0] = await freePorts(3)
  const { certificate, key } = await (await testAuthority()).server()
  // Awaited: the database lives as long as the image.
  return await startImage({
    folder,
    content,
    containerfile: 'Containerfile.gateway',
    secrets: { master_key: 'ab'.repeat(32), tls_certificate: certificate, tls_key: key },
    environment: {
      AEX_GATEWAY_HOST: '127.0.0.1',
      AEX_GATEWAY_PORT: String(api),
      AEX_GATEWAY_ADMIN_PORT: String(admin),
      AEX_GATEWAY_WEBHOOK_PORT: String(webhooks),
      AEX_GATEWAY_DATABASE_URL: database.url,
      AEX_GATEWAY_MASTER_KEY_FILE: '/run/secrets/master_key',
      AEX_GATEWAY_TLS_CERT: '/run/secrets/tls_certificate',
      AEX_GATEWAY_TLS_KEY: '/run/secrets/tls_key',
    },
    async whileRunning() {
      const metrics = await scrape(admin)
      if (!metrics.includes('aex_gateway_ready 1'))
        throw new Error('the gateway does not report itself ready')
    },
  })
}

function scrape(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/metrics',
      timeout: SCRAPE_MS,
      rejectUnauthorized: false,
    }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.on('error', reject)
    sent.end()
  })
}
