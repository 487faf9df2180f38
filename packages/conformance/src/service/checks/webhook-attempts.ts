import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { holds, same, succeeded } from '../../run/expect.ts'
import { NotJudged } from '../../run/finding.ts'
import { parseObject } from '../../wire/wire.ts'
import type { Draft } from '../draft.ts'
import { pathOf } from '../operations.ts'
import { isWithoutAccess } from '../resources.ts'
import { about, endpoint, event, MOVED_CLOCK_MS, SETTLE_MS, TOLERANCE_MS } from '../webhook-endpoint.ts'
import type { ReceivedWebhook } from '../webhook-receiver.ts'
import { requireSigned } from '../webhook-signature.ts'

/** Minimum delays before attempts 2 to 7, in seconds. */
const DELAYS = [30, 120, 600, 3_600, 21_600, 86_400]

/** Repetitions of one delivery: ids and body stay, the attempt rises, each has its own signature. */
function requireRepeated(first: ReceivedWebhook, next: ReceivedWebhook): void {
  for (const name of ['svc-delivery-id', 'svc-event-id'])
    same(next.headers[name], first.headers[name], `${name} of a repeated delivery`, ['EVT-03'])
  same(next.body, first.body, 'the body of a repeated delivery', ['EVT-03'])
}

async function stateOf({ sender }: Context, { packageId }: Draft): Promise<unknown> {
  const read = await sender.organization.call('GET', pathOf('getPackage', { package_id: packageId }))
  return succeeded(read, 200, 'a package whose webhook failed').body['state']
}

const firstRepetitions: Check = {
  name: 'webhooks/first-three-attempts',
  ids: ['EVT-07', 'EVT-08', 'EVT-03', 'EVT-09'],
  title: 'a receiver that fails is tried again after 30 s and after 2 minutes, with the same ids',
  needs: ['webhooks'],
  background: true,
  async run(context) {
    if (context.hooks.advance_clock) throw new NotJudged('all seven attempts are judged by the clock instead')
    const { subscription, key } = await endpoint(context, { status: 500 })
    const draft = await event(context)
    const first = await subscription.until(about(draft), 'the first attempt')
    let previous = first
    for (const [index, seconds] of DELAYS.slice(0, 2).entries()) {
      const attempt = index + 2
      const limit = seconds * 1_000 + 30_000
      const next = await subscription.until(about(draft, attempt), `attempt ${attempt}`, limit)
      holds(
        next.at - previous.at >= seconds * 1_000 - TOLERANCE_MS,
        `attempt ${attempt} came ${Math.round((next.at - previous.at) / 1_000)} s after the one before`,
        ['EVT-07'],
      )
      requireRepeated(first, next)
      requireSigned(next, key, context.now())
      previous = next
    }
    holds((await stateOf(context, draft)) !== 'revoked', 'a failing webhook changed its package', ['EVT-09'])
  },
}

const sevenAttempts: Check = {
  name: 'webhooks/seven-attempts',
  ids: ['EVT-07', 'EVT-08', 'EVT-03', 'EVT-09'],
  title: 'a receiver that fails gets seven attempts, each after its delay and none before it',
  needs: ['webhooks', 'advance_clock'],
  last: true,
  async run(context) {
    const { subscription, key } = await endpoint(context, { status: 503 })
    const draft = await event(context)
    const before = await stateOf(context, draft)
    const first = await subscription.until(about(draft), 'the first attempt')
    const attempts = () =>
      subscription.received.filter(({ body }) => parseObject(body)['package_id'] === draft.packageId).length
    for (const [index, seconds] of DELAYS.entries()) {
      const attempt = index + 2
      // The service has to record the failure before its clock moves.
      await sleep(SETTLE_MS / 2)
      await context.advance(seconds - 5)
      await sleep(SETTLE_MS / 2)
      same(attempts(), attempt - 1, `attempts before the delay of attempt ${attempt}`, ['EVT-07'])
      // Delays may be longer than their minimum, which keeps receivers from being called all at once.
      await context.advance(seconds + 10)
      const next = await subscription.until(about(draft, attempt), `attempt ${attempt}`, MOVED_CLOCK_MS)
      requireRepeated(first, next)
      requireSigned(next, key, context.now())
    }
    await context.advance(2 * 86_400)
    await sleep(SETTLE_MS / 2)
    same(attempts(), 7, 'attempts of one delivery', ['EVT-07'])
    const after = await stateOf(context, draft)
    const change = `a webhook that failed moved its package from ${String(before)} to ${String(after)}`
    holds(isWithoutAccess(before, after), change, ['EVT-09'])
  },
}

export const ATTEMPT_CHECKS: readonly Check[] = [firstRepetitions, sevenAttempts]
