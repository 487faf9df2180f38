import { publicKey } from '@agent-exchange/protocol'
import { requireSchema } from '../profiles/profile.ts'
import type { ValidVector } from '../vector-file.ts'
import { KEY } from '../test-keys.ts'
import type { Story } from './story.ts'
import { type Generated, invalid, valid } from './vectors.ts'
import { alteredOnItsWay, withPinnedKeys, wronglySigned } from './webhook-refusals.ts'
import { type Delivery, delivery, parameters, PINNED, sign, type SignedDelivery } from './webhook-request.ts'

export async function webhookSignature({ notification }: Story): Promise<Generated> {
  requireSchema(publicKey, PINNED)
  const parts = await delivery(notification)
  const signed = await sign(parts)
  const refused = [
    ...alteredOnItsWay(signed),
    ...withPinnedKeys(signed.input),
    ...(await wronglySigned(parts)),
  ]
  return {
    profile: 'webhook-signature',
    description:
      'A signed webhook request, the keys a receiver has pinned and its clock; clocks may be 5 seconds apart.',
    references: ['EVT-05', 'EVT-14', 'RFC 9421', 'RFC 9530'],
    vectors: [
      ...(await accepted(parts, signed)),
      ...refused.map(([name, description, input, code]) =>
        invalid(name, description, input, {
          rule: code.startsWith('webhook_key') ? 'EVT-14' : 'EVT-05',
          code,
        }),
      ),
    ],
  }
}

async function accepted(parts: Delivery, signed: SignedDelivery): Promise<ValidVector[]> {
  const { input } = signed
  const output = (of: SignedDelivery, attempt: number) => ({
    key_id: KEY.platformWebhook,
    delivery_id: 'dlv_seat_rails_1',
    event_id: parts.eventId,
    attempt,
    signature_base: of.signatureBase,
  })
  const retry = await sign({ ...parts, attempt: 7, parameters: parameters({ lifetime: 60 }) })
  const queried = await sign({ ...parts, url: `${parts.url}?tenant=1` })
  const upperCase = {
    ...input.request,
    url: parts.url.replace('agent.carmaker', 'AGENT.carmaker').replace('.example', '.example:443'),
  }
  const headers = input.request.headers.map(([name, value]): [string, string] => [
    name.toUpperCase(),
    ` ${value} `,
  ])
  return [
    valid('first-attempt', 'As it is sent.', input, output(signed, 1)),
    valid(
      'seventh-attempt',
      'A retry: a new signature over a new attempt, valid for a minute.',
      retry.input,
      output(retry, 7),
    ),
    valid('query', 'A query, which the covered components leave out.', queried.input, output(queried, 1)),
    valid(
      'authority-normalized',
      'The authority in capitals and with the default port: the same base.',
      { ...input, request: upperCase },
      output(signed, 1),
    ),
    valid(
      'fields-reordered',
      'Fields in another order and case, with space around their values.',
      { ...input, request: { ...input.request, headers: headers.toReversed() } },
      output(signed, 1),
    ),
    valid(
      'retiring-key',
      'A retiring key still signs.',
      { ...input, pinned_keys: [{ ...PINNED, status: 'retiring' }] },
      output(signed, 1),
    ),
    valid(
      'last-moment',
      'At the second of expiry.',
      { ...input, now: '2026-03-02T08:05:02Z' },
      output(signed, 1),
    ),
    valid(
      'clock-behind',
      "The receiver's clock is five seconds behind.",
      { ...input, now: '2026-03-02T07:59:57Z' },
      output(signed, 1),
    ),
  ]
}
