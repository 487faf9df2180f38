/**
 * An auto-responder with a person in the loop: it answers what its rule can decide, declines what it must not answer,
 * and asks at the terminal wherever the policy requires an approval.
 *
 *     aex agent defaults --allow org_cars
 *     node examples/respond.ts
 */

import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Approve } from '@agent-exchange/sdk'
import { connectFolder } from '@agent-exchange/sdk/node'

const terminal = createInterface({ input: process.stdin, output: process.stdout })

/** Called before an answer is sealed, if the policy requires a person. */
const approve: Approve = async ({ recipient, object, packageId }) => {
  if (object.object_type !== 'response_object') return { approved: false }
  console.log(`To ${recipient.agentId}: ${JSON.stringify(object.response_summary)}`)
  const answer = await terminal.question('Send this? Type "yes": ')
  return { approved: answer.trim() === 'yes', approvalReference: `approval_${packageId}` }
}

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent', { approve })
await agent.resume()

await using receiver = agent.onPackage(
  async ({ object, from, reply, decline }) => {
    if (object.object_type !== 'reasoning_package') return
    const sent = object.facts.some(({ sensitivity }) => sensitivity === 'restricted')
      ? await decline('We do not take restricted facts by this channel.')
      : await reply({ summary: `Noted: ${object.intent.recipient_request}`, actions: ['agree'] })
    console.log(`Answered ${from.agentId} with ${sent.packageId}`)
  },
  {
    onReport: (report) => console.error(report),
    // A person may take a day; a call that takes longer is repeated.
    limits: { pollMs: 5_000, handlerMs: 86_400_000 },
  },
)
await receiver.start()
console.log('Answering packages. Ctrl-C ends it.')
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
terminal.close()
