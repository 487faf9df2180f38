import type { Context } from '../run/context.ts'
import { draftPackage, send } from './draft.ts'
import type { WebhookReceiver } from './webhook-receiver.ts'

/**
 * The protocol has no operation that removes a webhook endpoint, so each run would use up a part of the quota. An
 * endpoint that answers 410 is disabled (EVT-08): all of them answer it from now on, and one more event reaches them.
 * Whether that worked is no part of the judgement.
 */
export async function closeEndpoints(webhooks: WebhookReceiver, context: Context): Promise<void> {
  if (!webhooks.hasSubscriptions) return
  webhooks.answerGone()
  try {
    const draft = await draftPackage(context, context.sender, context.outsider)
    const { status } = await send(context.sender, draft)
    if (status === 202) await webhooks.untilAllGone()
  } catch {
    // The service may be gone as well.
  }
}
