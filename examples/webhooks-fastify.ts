/**
 * Receives packages by signed webhooks in a Fastify application, beside its other routes.
 *
 *     node examples/webhooks-fastify.ts https://agent.example:8443/hooks/exchange cert.pem key.pem
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connectFolder, fastifyWebhook } from '@agent-exchange/sdk/node'
import { fastify } from 'fastify'

const [url = '', cert = 'cert.pem', key = 'key.pem'] = process.argv.slice(2)
const { pathname, port } = new URL(url)

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent')
await using receiver = agent.onPackage(
  async ({ object, from }) => console.log(`${from.agentId}: ${object.object_type}`),
  { onReport: (report) => console.error(report) },
)

const app = fastify({ https: { cert: readFileSync(cert), key: readFileSync(key) } })
await app.register(fastifyWebhook(receiver.handler, { path: pathname }))
app.get('/health', async () => ({ ok: true }))
await app.listen({ port: Number(port || 443) })
await receiver.start()
await receiver.ensureEndpoint(url)
console.log(`Listening at ${url}. Ctrl-C ends it.`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
await app.close()
