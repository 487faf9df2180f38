import type { Receiver } from '@agent-exchange/sdk'
import { aexStep } from '../next-step.ts'

/** Reports the first webhook, and the first event without one. Called for each event. */
export function arrivalWatch(): (receiver: Receiver) => Promise<void> {
  const said = new Set<string>()
  return async (receiver) => {
    const { lastWebhookAt } = await receiver.status()
    const sentence =
      lastWebhookAt === undefined
        ? `No webhook has arrived yet; this event came by polling instead. The operator can see why: ${aexStep('delivery', 'list')}`
        : 'Webhooks arrive.'
    if (said.has(sentence)) return
    said.add(sentence)
    console.error(sentence)
  }
}
