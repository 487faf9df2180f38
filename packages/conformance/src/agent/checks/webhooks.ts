import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../run/check.ts'
import { holds } from '../../run/expect.ts'
import { NotJudged } from '../../run/finding.ts'
import type { AgentContext } from '../agent-context.ts'
import type { Notification } from '../scripted-stream.ts'
import { signedWebhook, type WebhookDeviation } from '../signed-webhook.ts'
import { ACCEPTED, REJECTED, type WebhookCase } from './webhook-attacks.ts'

type AgentCheck = Check<AgentContext>

/** How long an agent may take to handle what it stored. */
const HANDLING_MS = 20_000
const POLL_MS = 50

export const isStored = (status: number) => status >= 200 && status < 300

/** Delivers an event and returns the status. */
export async function deliverEvent(
  context: AgentContext,
  event: Notification,
  { key = 'active', deviation }: WebhookCase = {},
  more: WebhookDeviation = {},
): Promise<number> {
  const url = await context.webhookUrl()
  const changes = { ...deviation?.(event, url), ...more }
  return context.deliver(await signedWebhook(url, event, context.keys.get(key), changes))
}

/** The agent stored a right event: 204, as the specification says. */
export async function store(
  context: AgentContext,
  event: Notification,
  more?: WebhookDeviation,
): Promise<void> {
  const status = await deliverEvent(context, event, {}, more)
  holds(status === 204, `a right webhook was answered by ${status} instead of 204`)
}

/** Waits until the agent handled these events. Throws NotJudged if it cannot say what it handled. */
export async function handledAfter(
  context: AgentContext,
  events: readonly Notification[],
): Promise<readonly string[]> {
  const limit = performance.now() + HANDLING_MS
  for (;;) {
    const handled = await context.handled()
    if (events.every(({ event_id }) => handled.includes(event_id))) return handled
    holds(
      performance.now() < limit,
      `the agent stored ${events.length} events and did not handle them within ${HANDLING_MS / 1_000} s`,
    )
    await sleep(POLL_MS)
  }
}

/** For checks of an answer, which is judged also of an agent that cannot say what it handled. The report says so. */
async function handledIfKnown(
  context: AgentContext,
  events: readonly Notification[],
): Promise<readonly string[] | undefined> {
  try {
    return await handledAfter(context, events)
  } catch (error) {
    if (!(error instanceof NotJudged)) throw error
    context.note('O-12', `judged by the answer only, because ${error.message}`)
    return undefined
  }
}

const rejections = REJECTED.map(({ name, title, cases }): AgentCheck => ({
  name: `agent/webhooks/rejects/${name}`,
  ids: ['EVT-14'],
  title,
  async run(context) {
    const attacks: Notification[] = []
    for (const [number, each] of cases.entries()) {
      const attack = context.stream.draft(each.event)
      attacks.push(attack)
      const status = await deliverEvent(context, attack, each)
      holds(!isStored(status), `not so (case ${number + 1} of ${cases.length}): the agent answered ${status}`)
      context.note('O-12', `${title}: ${status}`)
    }
    const event = context.stream.append()
    await store(context, event)
    const handled = await handledIfKnown(context, [event])
    const stored = attacks.find(({ event_id }) => handled?.includes(event_id))
    holds(stored === undefined, 'not so: the agent answered with a refusal and handled the event')
  },
}))

const acceptances = ACCEPTED.map(({ name, title, cases }): AgentCheck => ({
  name: `agent/webhooks/accepts/${name}`,
  ids: ['EVT-14'],
  title,
  async run(context) {
    for (const each of cases) {
      const event = context.stream.append(each.event)
      const status = await deliverEvent(context, event, each)
      holds(status === 204, `not so: the agent answered ${status} instead of 204`)
      await handledIfKnown(context, [event])
    }
  },
}))

export const WEBHOOK_CHECKS: readonly AgentCheck[] = [...acceptances, ...rejections]
