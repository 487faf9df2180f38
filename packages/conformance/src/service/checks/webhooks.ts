import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { holds, listOf, refused, same, succeeded } from '../../run/expect.ts'
import { blaming, NotJudged } from '../../run/finding.ts'
import { parseObject } from '../../wire/wire.ts'
import type { Draft } from '../draft.ts'
import { pathOf } from '../operations.ts'
import { sent } from '../scene.ts'
import { notificationsOf } from '../stream.ts'
import type { ReceivedWebhook, Reply, Subscription } from '../webhook-receiver.ts'
import { requireSigned, type SigningKey } from '../webhook-signature.ts'

/** Minimum delays before attempts 2 to 7, in seconds. */
const DELAYS = [30, 120, 600, 3_600, 21_600, 86_400]
/** Longer than any attempt needs to arrive once it is due. */
const SETTLE_MS = 3_000
/** A wait in which a first repetition would arrive. */
const REPETITION_MS = 45_000
/** A worker may notice only at its next look that the clock was moved. */
const MOVED_CLOCK_MS = 60_000
/** Times of arrival differ by the way of the request. */
const TOLERANCE_MS = 500

interface Endpoint {
  readonly subscription: Subscription
  readonly key: SigningKey
}

/** Keys as a receiver pins them. */
async function directory({ outsider }: Context) {
  const answer = await outsider.organization.call('GET', pathOf('getNotificationSigningKeys'))
  return listOf(succeeded(answer, 200).body['keys'], 'keys of the notification directory')
}

/** Registers an endpoint of the third organization, to which only these checks send. */
async function endpoint(context: Context, reply: Reply = { status: 204 }): Promise<Endpoint> {
  const { webhooks, outsider } = context
  if (!webhooks) throw new NotJudged('no webhook receiver is configured')
  const subscription = webhooks.subscribe(context.newId('hook'))
  subscription.reply = reply
  const pinned = await directory(context)
  const body = { url: subscription.url, event_types: ['package.accepted'] }
  const answer = await outsider.organization.call('POST', pathOf('createWebhookEndpoint'), body)
  const keyId = String(succeeded(answer, 201, 'a webhook endpoint').body['signing_key_id'])
  const found = pinned.find(({ key_id }) => key_id === keyId)
  holds(found !== undefined, `the signing key ${keyId} of an endpoint was not in the directory before`)
  return { subscription, key: { keyId, jwk: found['public_key'] as object } }
}

const event = (context: Context) => sent(context, {}, context.sender, context.outsider)
const about =
  ({ packageId }: Draft, attempt = 1) =>
  ({ body, headers }: ReceivedWebhook) =>
    parseObject(body)['package_id'] === packageId && Number(headers['svc-delivery-attempt']) === attempt

const signed: Check = {
  name: 'webhooks/signed',
  ids: ['EVT-05', 'EVT-03', 'EVT-15', 'EVT-06'],
  title: 'a webhook is signed under the profile, and is the notification that polling shows',
  needs: ['webhooks'],
  async run(context) {
    const { subscription, key } = await endpoint(context)
    const draft = await event(context)
    const webhook = await subscription.until(about(draft), 'the webhook of an accepted package')
    await blaming(['EVT-05'], async () => Promise.resolve(requireSigned(webhook, key, context.now())))
    const body = parseObject(webhook.body)
    same(webhook.headers['svc-event-id'], body['event_id'], 'svc-event-id and event_id of the body', [
      'EVT-03',
    ])
    holds(Boolean(webhook.headers['svc-delivery-id']), 'a webhook has no svc-delivery-id', ['EVT-03'])
    const polled = await notificationsOf(context.outsider, draft.packageId)
    same(
      body,
      polled.find(({ event_id }) => event_id === body['event_id']),
      'webhook and polled notification',
      ['EVT-03'],
    )
  },
}

const addresses: Check = {
  name: 'webhooks/addresses',
  ids: ['EVT-06', 'EVT-15'],
  title: 'an endpoint without TLS, or with user information, is refused',
  async run({ outsider }) {
    for (const url of [
      'http://agent.example/hook',
      'https://user:pass@agent.example/hook',
      'ftp://agent.example/',
    ])
      refused(
        await outsider.organization.call('POST', pathOf('createWebhookEndpoint'), { url, event_types: [] }),
        `an endpoint at ${url}`,
      )
  },
}

const keys: Check = {
  name: 'webhooks/directory',
  ids: ['ID-08'],
  title: 'the directory of webhook keys has an active P-256 signing key that is valid now',
  async run(context) {
    const listed = await directory(context)
    const now = Date.parse(context.now())
    const usable = listed.filter(
      ({ status, use, valid_from }) =>
        status === 'active' && use === 'signing' && Date.parse(String(valid_from)) <= now,
    )
    holds(usable.length > 0, 'no key of the notification directory is active and valid now')
    for (const { key_id, public_key } of listed) {
      const { crv } = public_key as Readonly<Record<string, unknown>>
      same(crv, 'P-256', `the curve of the notification key ${String(key_id)}`)
      holds(
        !('d' in (public_key as object)),
        `the notification key ${String(key_id)} is published with its private part`,
      )
    }
  },
}

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
    same(await stateOf(context, draft), before, 'the state of a package whose webhook failed seven times', [
      'EVT-09',
    ])
  },
}

async function judgeResults(context: Context, wait: () => Promise<unknown>): Promise<void> {
  const elsewhere = context.webhooks?.subscribe(context.newId('hook'))
  const ok = await endpoint(context)
  const wrong = await endpoint(context, { status: 404 })
  const gone = await endpoint(context, { status: 410 })
  const moved = await endpoint(context, { status: 302, headers: { location: elsewhere?.url ?? '' } })
  const draft = await event(context)
  for (const { subscription } of [ok, wrong, gone, moved])
    await subscription.until(about(draft), 'the first attempt')
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

const replay: Check = {
  name: 'webhooks/replay',
  ids: ['EVT-12', 'EVT-03'],
  title: 'a replayed delivery has a new delivery id and the same event and body',
  needs: ['webhooks', 'replay_delivery'],
  async run(context) {
    const { subscription, key } = await endpoint(context, { status: 404 })
    const draft = await event(context)
    const first = await subscription.until(about(draft), 'the first attempt')
    subscription.reply = { status: 204 }
    const deliveryId = first.headers['svc-delivery-id'] ?? ''
    // The service needs a moment to record the failure.
    for (let tries = 1; ; tries++) {
      try {
        await context.hooks.replay_delivery?.({ delivery_id: deliveryId, reason: 'conformance' })
        break
      } catch (error) {
        if (tries === 10) throw error
        await sleep(200)
      }
    }
    const isReplay = (webhook: ReceivedWebhook) =>
      about(draft)(webhook) && webhook.headers['svc-delivery-id'] !== deliveryId
    const again = await subscription.until(isReplay, 'a replay with a new delivery id')
    same(again.headers['svc-event-id'], first.headers['svc-event-id'], 'the event id of a replay', [
      'EVT-12',
      'EVT-03',
    ])
    same(again.body, first.body, 'the body of a replay', ['EVT-12'])
    requireSigned(again, key, context.now())
  },
}

const idsOf = (list: readonly Readonly<Record<string, unknown>>[]) => list.map(({ key_id }) => String(key_id))

const rotation: Check = {
  name: 'webhooks/rotation',
  ids: ['EVT-13', 'ID-08'],
  title:
    'after a rotation the former keys stay listed, and an endpoint keeps a key that was published before',
  needs: ['webhooks', 'rotate_webhook_key'],
  async run(context) {
    const { subscription, key } = await endpoint(context)
    const before = await directory(context)
    await context.hooks.rotate_webhook_key?.({})
    const after = await directory(context)
    // A service that always publishes a standby key may rotate to it (O-38).
    const added = idsOf(after).filter((id) => !idsOf(before).includes(id)).length
    context.note('O-38', `a rotation publishes ${added} further keys`)
    for (const id of idsOf(before))
      holds(idsOf(after).includes(id), `the key ${id} disappeared with the rotation`)
    const webhook = await subscription.until(about(await event(context)), 'a webhook after the rotation')
    requireSigned(webhook, key, context.now())
  },
}

export const WEBHOOK_CHECKS: readonly Check[] = [
  firstRepetitions,
  results,
  signed,
  addresses,
  keys,
  replay,
  rotation,
  resultsByClock,
  sevenAttempts,
]
