import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { holds, same } from '../../run/expect.ts'
import { NotJudged } from '../../run/finding.ts'
import {
  about,
  type Endpoint,
  endpoint,
  event,
  MOVED_CLOCK_MS,
  SETTLE_MS,
  TOLERANCE_MS,
} from '../webhook-endpoint.ts'
import type { Reply } from '../webhook-receiver.ts'

/** A wait in which a first repetition would arrive. */
const REPETITION_MS = 45_000
/** What a receiver asks for by Retry-After: longer than the delay before attempt 2. */
const RETRY_AFTER_SECONDS = 60

async function judgeResults(context: Context, wait: () => Promise<unknown>): Promise<void> {
  const elsewhere = context.webhooks?.subscribe(context.newId('hook'))
  const ok = await endpoint(context)
  const wrong = await endpoint(context, { status: 404 })
  const gone = await endpoint(context, { status: 410 })
  const moved = await endpoint(context, { status: 302, headers: { location: elsewhere?.url ?? '' } })
  const draft = await event(context)
  for (const { subscription } of [ok, wrong, moved])
    await subscription.until(about(draft), 'the first attempt')
  // An event of a check that runs beside this one may have disabled it before.
  await gone.subscription.until(() => true, 'the first attempt')
  // The service has to record the 410 before the next event.
  await sleep(SETTLE_MS)
  const second = await event(context)
  await ok.subscription.until(about(second), 'a webhook of the next event')
  await wrong.subscription.until(about(second), 'the next event after a permanent failure')
  await wait()
  same(gone.subscription.received.some(about(second)), false, 'an event for an endpoint that answered 410', [
    'EVT-08',
  ])
  same(elsewhere?.received.length, 0, 'requests at the target of a redirect', ['EVT-08'])
  for (const [what, { subscription }] of Object.entries({ '204': ok, '404': wrong, '410': gone }))
    same(subscription.received.some(about(draft, 2)), false, `a second attempt after ${what}`, ['EVT-08'])
  context.note(
    'O-33',
    moved.subscription.received.some(about(draft, 2))
      ? 'a redirect is tried again'
      : 'a redirect ends a delivery',
  )
}

const results: Check = {
  name: 'webhooks/results',
  ids: ['EVT-08', 'EVT-09'],
  title: '2xx and 4xx end a delivery, 410 ends the endpoint, and a redirect is not followed',
  needs: ['webhooks'],
  background: true,
  async run(context) {
    if (context.hooks.advance_clock) throw new NotJudged('judged by the clock instead')
    await judgeResults(context, () => sleep(REPETITION_MS))
  },
}

const resultsByClock: Check = {
  name: 'webhooks/results-by-clock',
  ids: results.ids,
  title: results.title,
  needs: ['webhooks', 'advance_clock'],
  last: true,
  async run(context) {
    await judgeResults(context, async () => {
      await context.advance(300)
      await sleep(SETTLE_MS / 2)
    })
  },
}

const LATER: Reply = { status: 503, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } }
const RETRIED: Readonly<Record<string, Reply>> = {
  '408': { status: 408 },
  '425': { status: 425 },
  '429': { status: 429 },
  'a lost connection': { status: 500, isLost: true },
}

/** Receivers whose answers ask for a repetition. Returns the one that said when, and how to wait for the others. */
async function failing(context: Context) {
  const asking = await endpoint(context, LATER)
  const others: [string, Endpoint][] = []
  for (const [what, reply] of Object.entries(RETRIED)) others.push([what, await endpoint(context, reply)])
  const draft = await event(context)
  const first = await asking.subscription.until(about(draft), 'the first attempt')
  for (const [what, { subscription }] of others)
    await subscription.until(about(draft), `the first attempt that is answered by ${what}`)
  return {
    first,
    second: (limitMs: number) =>
      asking.subscription.until(about(draft, 2), 'a second attempt after Retry-After', limitMs),
    hasSecond: () => asking.subscription.received.some(about(draft, 2)),
    async othersRepeat(limitMs: number) {
      for (const [what, { subscription }] of others)
        await subscription.until(about(draft, 2), `a second attempt after ${what}`, limitMs)
    },
  }
}

const retryAfter: Check = {
  name: 'webhooks/retry-after',
  ids: ['EVT-08'],
  title: 'Retry-After delays the next attempt; 408, 425, 429 and a lost connection lead to one',
  needs: ['webhooks'],
  background: true,
  async run(context) {
    if (context.hooks.advance_clock) throw new NotJudged('judged by the clock instead')
    const { first, second, othersRepeat } = await failing(context)
    const next = await second(RETRY_AFTER_SECONDS * 1_000 + REPETITION_MS)
    const seconds = (next.at - first.at) / 1_000
    holds(
      seconds >= RETRY_AFTER_SECONDS - TOLERANCE_MS / 1_000,
      `a receiver that asked for ${RETRY_AFTER_SECONDS} s got attempt 2 after ${Math.round(seconds)} s`,
    )
    await othersRepeat(REPETITION_MS)
  },
}

const retryAfterByClock: Check = {
  name: 'webhooks/retry-after-by-clock',
  ids: retryAfter.ids,
  title: retryAfter.title,
  needs: ['webhooks', 'advance_clock'],
  last: true,
  async run(context) {
    const { second, hasSecond, othersRepeat } = await failing(context)
    // The service has to record the failures before its clock moves.
    await sleep(SETTLE_MS / 2)
    await context.advance(RETRY_AFTER_SECONDS - 20)
    await sleep(SETTLE_MS / 2)
    same(hasSecond(), false, `a second attempt before the ${RETRY_AFTER_SECONDS} s that a receiver asked for`)
    await context.advance(RETRY_AFTER_SECONDS)
    await second(MOVED_CLOCK_MS)
    await othersRepeat(MOVED_CLOCK_MS)
  },
}

export const RESULT_CHECKS: readonly Check[] = [results, retryAfter, resultsByClock, retryAfterByClock]
