import type { Context } from '../run/context.ts'
import { holds, listOf, succeeded } from '../run/expect.ts'
import { NotJudged } from '../run/finding.ts'
import { parseObject } from '../wire/wire.ts'
import type { Draft } from './draft.ts'
import { pathOf } from './operations.ts'
import { sent } from './scene.ts'
import type { ReceivedWebhook, Reply, Subscription } from './webhook-receiver.ts'
import type { SigningKey } from './webhook-signature.ts'

/** Longer than any attempt needs to arrive once it is due. */
export const SETTLE_MS = 3_000

/** A worker may notice only at its next look that the clock was moved. */
export const MOVED_CLOCK_MS = 60_000
/** Times of arrival differ by the way of the request. */
export const TOLERANCE_MS = 500

export interface Endpoint {
  readonly subscription: Subscription
  readonly key: SigningKey
}

/** Keys as a receiver pins them. */
export async function directory({ outsider }: Context) {
  const answer = await outsider.organization.call('GET', pathOf('getNotificationSigningKeys'))
  return listOf(succeeded(answer, 200).body['keys'], 'keys of the notification directory')
}

/** Registers an endpoint of the third organization, to which only checks of webhooks send. */
export async function endpoint(context: Context, reply: Reply = { status: 204 }): Promise<Endpoint> {
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

/** An event for the endpoints of the third organization. */
export const event = (context: Context) => sent(context, {}, context.sender, context.outsider)

export const about =
  ({ packageId }: Draft, attempt = 1) =>
  ({ body, headers }: ReceivedWebhook) =>
    parseObject(body)['package_id'] === packageId && Number(headers['svc-delivery-attempt']) === attempt
