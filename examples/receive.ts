/**
 * The smallest receiver: prints every package that is addressed to this agent, once.
 *
 *     node examples/receive.ts
 */

import { once } from 'node:events'
import { connectFolder } from '@agent-exchange/sdk/node'

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent')

await using receiver = agent.onPackage(
  async ({ object, from, thread }) => {
    const text = object.object_type === 'reasoning_package' ? object.reasoning.summary : ''
    console.log(`${from.agentId} in ${thread.id}: ${object.object_type} ${JSON.stringify(text)}`)
  },
  {
    onReport: (report) => console.error(report),
    limits: { pollMs: 5_000 },
  },
)
await receiver.start()
console.log('Waiting for packages. Ctrl-C ends it.')
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
