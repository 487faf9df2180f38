/**
 * Receives packages by signed webhooks, with nothing but node:https. Behind a TLS-terminating proxy, use node:http.
 *
 *     node examples/webhooks-node.ts https://agent.example:8443/hooks/exchange cert.pem key.pem
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { connectFolder, toNodeListener } from '@agent-exchange/sdk/node'

const [url = '', cert = 'cert.pem', key = 'key.pem'] = process.argv.slice(2)

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent')
await using receiver = agent.onPackage(
  async ({ object, from }) => console.log(`${from.agentId}: ${object.object_type}`),
  { onReport: (report) => console.error(report) },
)

const tls = { cert: readFileSync(cert), key: readFileSync(key) }
const server = createServer(tls, toNodeListener(receiver.handler))
server.listen(Number(new URL(url).port || 443))
await receiver.start()
await receiver.ensureEndpoint(url)
console.log(`Listening at ${url}. Ctrl-C ends it.`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
server.close()
