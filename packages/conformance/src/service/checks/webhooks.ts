import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../run/check.ts'
import { holds, refused, same } from '../../run/expect.ts'
import { blaming, NotJudged } from '../../run/finding.ts'
import { parseObject } from '../../wire/wire.ts'
import { pathOf } from '../operations.ts'
import { notificationsOf } from '../stream.ts'
import { about, directory, endpoint, event } from '../webhook-endpoint.ts'
import type { ReceivedWebhook } from '../webhook-receiver.ts'
import { requireSigned } from '../webhook-signature.ts'

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
    const find = async () => {
      const polled = await notificationsOf(context.outsider, draft.packageId)
      return polled.find(({ event_id }) => event_id === body['event_id'])
    }
    const polled = await context.eventually(find, (found) => found !== undefined)
    same(body, polled, 'webhook and polled notification', ['EVT-03'])
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

const revokedKey: Check = {
  name: 'webhooks/revoked-key',
  ids: ['ID-08'],
  title: 'a revoked webhook key stays listed, and says when it was revoked and from when it is invalid',
  needs: ['revoke_webhook_key'],
  // Deliveries that are under way are signed with the keys of before.
  last: true,
  async run(context) {
    const before = await directory(context)
    const withStatus = (wanted: string) => before.findLast(({ status }) => status === wanted)
    // A retiring key disturbs deliveries least.
    const key = withStatus('retiring') ?? withStatus('active')
    if (!key) throw new NotJudged('the directory has no webhook key that could be revoked')
    const keyId = String(key['key_id'])
    await context.hooks.revoke_webhook_key?.({ key_id: keyId })
    const find = async () => (await directory(context)).find(({ key_id }) => key_id === keyId)
    const listed = await context.eventually(find, (found) => found?.['status'] === 'revoked')
    holds(listed !== undefined, 'a revoked key is missing in the notification directory')
    same(listed['status'], 'revoked', 'status of a revoked webhook key')
    for (const member of ['revoked_at', 'invalid_from'])
      holds(typeof listed[member] === 'string', `a revoked webhook key has no ${member}`)
  },
}

export const WEBHOOK_CHECKS: readonly Check[] = [signed, addresses, keys, replay, rotation, revokedKey]
