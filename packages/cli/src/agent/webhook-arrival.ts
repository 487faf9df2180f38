import { once } from 'node:events'
import { request } from 'node:https'
import type { Receiver } from '@agent-exchange/sdk'
import { aexStep } from '../next-step.ts'

const ANSWER_MS = 5_000
/** The receiver's status for any method but POST. */
const NOT_A_POST = 405

/** Whether the address leads to this process, as seen from this machine. */
export async function selfCheck(url: string): Promise<string> {
  // Only tests reachability: sends no data, and the exchange verifies the certificate itself.
  const asked = request(url, { rejectUnauthorized: false, timeout: ANSWER_MS, agent: false })
  asked.on('timeout', () => asked.destroy(Object.assign(new Error('too late'), { code: 'ETIMEDOUT' })))
  asked.end()
  try {
    const [response] = (await once(asked, 'response')) as [{ statusCode?: number; destroy(): void }]
    response.destroy()
    return response.statusCode === NOT_A_POST
      ? 'The address leads here.'
      : `Something else answers at ${url} (status ${response.statusCode}). Check the path and the proxy.`
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return `Nothing answers at ${url} from here${code}. If the exchange cannot reach it either, no webhook will arrive.`
  }
}

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
