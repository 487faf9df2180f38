/**
 * An auto-responder with a person in the loop. Where the policy requires no person, it answers at once. Otherwise each
 * answer is a draft: a person approves or declines it at the desk, and the program sends what was approved.
 *
 *     aex agent defaults --allow org_cars
 *     node examples/respond.ts
 */

import { once } from 'node:events'
import type { ReceivedPackage, Reply } from '@agent-exchange/sdk'
import { connectFolder } from '@agent-exchange/sdk/node'

const LOOK_MS = 2_000

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent')
const { policy, skill } = agent.defaults
if (!policy || !skill) throw new Error('No default policy. Run: aex agent defaults --allow ORG_ID')
await agent.resume()

/** The rule of this agent. Replace it by yours. */
function answerTo(object: ReceivedPackage['object']): Pick<Reply, 'summary' | 'actions'> | undefined {
  if (object.object_type !== 'reasoning_package') return undefined
  return object.facts.some(({ sensitivity }) => sensitivity === 'restricted')
    ? { summary: 'We do not take restricted facts by this channel.', actions: ['decline_with_policy'] }
    : { summary: `Noted: ${object.intent.recipient_request}`, actions: ['agree'] }
}

await using receiver = agent.onPackage(
  async ({ object, packageId, thread, reply }) => {
    const answer = answerTo(object)
    if (!answer) return
    if (!policy.human_approval.required) {
      console.log(`Answered ${packageId} with ${(await reply(answer)).packageId}`)
      return
    }
    // After a crash the handler is called again for the same package.
    if ((await agent.drafts.list()).some(({ respondsTo }) => respondsTo === packageId)) return
    const response = agent.make.responseObject({ to: { packageId, threadId: thread.id }, ...answer })
    await agent.drafts.create({ respondsTo: packageId, object: response, policy, skill })
    console.log(`An answer to ${packageId} waits for a person. Run: aex agent desk`)
  },
  { onReport: (report) => console.error(report), limits: { pollMs: 5_000 } },
)
await receiver.start()
console.log('Answering packages. Ctrl-C ends it.')

/** Sends answers that a person has approved. The desk can send them too, so one may be gone by now. */
async function sendApproved(): Promise<void> {
  const { toSend } = await agent.pending()
  for (const { draftId, respondsTo, state } of toSend)
    if (respondsTo !== undefined && state === 'approved')
      await agent.drafts.send(draftId).then(
        ({ packageId }) => console.log(`Answered ${respondsTo} with ${packageId}`),
        (error: unknown) => console.error(error),
      )
}

const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => 'stopped')
const pause = () => new Promise<void>((done) => setTimeout(done, LOOK_MS))
while ((await Promise.race([stopped, pause()])) !== 'stopped') await sendApproved()
