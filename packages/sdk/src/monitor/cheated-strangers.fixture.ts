import assert from 'node:assert/strict'
import { chainLinks, type CapsuleV3 } from '@agent-exchange/log'
import { shownLeaves } from '@agent-exchange/testkit'
import { readCapsule } from '../evidence/read-capsule.ts'
import { changed } from '../meddling-proxy.fixture.ts'
import {
  edited,
  entryIn,
  forged,
  packageIn,
  stranger,
  unchanged,
  type CheatingWay,
  type Mutable,
} from './cheating-way.fixture.ts'
import { Operator, type CheatingExchange } from './cheating-exchange.fixture.ts'

const DAY_SECONDS = 86_400
const [OPENED, REVOKED] = [0, 2] as const
const isRecord = (kind: string) => kind === 'record'

/** Moves some leaves to the end of the log. */
const last = (isLast: (kind: string) => boolean) => (kinds: readonly string[]) =>
  kinds.map((_, at) => at).toSorted((a, b) => Number(isLast(kinds[a] ?? '')) - Number(isLast(kinds[b] ?? '')))

function firstTwoSwapped(kinds: readonly string[]): number[] {
  const all = kinds.map((_, at) => at)
  const [first = 0, second = 0] = all.filter((at) => isRecord(kinds[at] ?? ''))
  return all.with(first, second).with(second, first)
}

/** Dates the second entry of the first record of the last package, by seconds. Witnesses saw the log before and after it. */
async function dated(exchange: CheatingExchange, by: number): Promise<CapsuleV3> {
  const [, , { metadata, entries }] = exchange.packages
  const recorded = entries.map((entry) =>
    'proof' in entry ? Date.parse(entry.proof.recorded_at) / 1_000 : 0,
  )
  const place = shownLeaves(exchange.capsule).findIndex(
    ({ record }) => record?.package_id === metadata.package_id,
  )
  const cosignedAt = Math.ceil(Math.max(...recorded)) + 60
  const to = new Date(((recorded[1] ?? 0) + by) * 1_000).toISOString()
  return forged(exchange, (c) => (entryIn(c, REVOKED, 2).proof.recorded_at = to), {
    cosignedAt,
    earlierBy: 60,
    earlierSize: 2 * place,
  })
}

const FORGED_RECEIPT = (c: Mutable<CapsuleV3>) => {
  const receipt = packageIn(c, OPENED).entries.find(
    (entry) => 'proof' in entry && entry.proof.kind === 'receipt_opened',
  )
  Object.assign(receipt ?? {}, {
    proof: { ...(receipt && 'proof' in receipt && receipt.proof), receipt_id: 'receipt_forged' },
  })
}

const way = (
  operator: string,
  codes: readonly string[],
  capsuleOf: (exchange: CheatingExchange) => CapsuleV3 | Promise<CapsuleV3>,
): CheatingWay => ({
  operator,
  noticedBy: 'a stranger',
  codes,
  when: 'at once',
  play: async (exchange) => stranger(await capsuleOf(exchange)),
})

const agentEvents = (c: Mutable<CapsuleV3>) =>
  c.log.key_events.filter(({ agent_id }) => agent_id === packageIn(c, OPENED).metadata.sender_agent_id)

/** Found by whoever has a capsule and a policy, without network. */
export const FOUND_BY_STRANGERS: readonly CheatingWay[] = [
  way('hides an entry in the middle of a package', ['chain_positions'], ({ capsule }) =>
    edited(capsule, (c) => packageIn(c, OPENED).entries.splice(4, 1)),
  ),
  way('hides a receipt behind a placeholder', ['chain_visibility'], ({ capsule }) =>
    edited(capsule, (c) =>
      packageIn(c, OPENED).entries.splice(4, 1, {
        position: 5,
        kind: 'receipt_received',
        visibility: 'one',
        body_hash: '00'.repeat(32),
      }),
    ),
  ),
  way('takes the last entry from the evidence, and not its record', ['record_positions'], ({ capsule }) =>
    edited(capsule, (c) => packageIn(c, REVOKED).entries.pop()),
  ),
  way('cuts the end off, after a signed statement about it', ['head_link'], ({ capsule }) =>
    edited(capsule, (c) => {
      packageIn(c, REVOKED).entries.pop()
      packageIn(c, REVOKED).records.pop()
    }),
  ),
  way('states an earlier end than its log held', ['head_false'], (exchange) =>
    forged(exchange, unchanged, {
      head: (head, index) => {
        const { links = [] } = chainLinks(exchange.packages[OPENED])
        const link = Buffer.from(links[4] ?? []).toString('hex')
        return index === OPENED ? { ...head, position: 4, link } : head
      },
    }),
  ),
  {
    ...way('logs a record far ahead, at position 1,000', ['chain_positions'], async (exchange) => {
      const operator = new Operator(exchange)
      operator.appendRecord(exchange.packages[OPENED], 1_000)
      assert.deepEqual((await operator.scan()).kinds, [])
      return edited(exchange.capsule, (c) => {
        const shown = { ...structuredClone(entryIn(c, OPENED, 1)), position: 1_000 }
        packageIn(c, OPENED).entries.push(shown)
      })
    }),
    noticedBy: 'a stranger who is shown it, and no monitor',
  },
  way('rewrites a record after it was logged', ['record_leaf'], ({ capsule }) =>
    edited(capsule, (c) => (entryIn(c, OPENED, 4).proof.recorded_at = '2020-01-01T00:00:00.000Z')),
  ),
  way('dates an inner entry two days too early', ['recorded_time'], (exchange) =>
    dated(exchange, -2 * DAY_SECONDS),
  ),
  way('dates an inner entry two days too late', ['recorded_time'], (exchange) =>
    dated(exchange, 2 * DAY_SECONDS),
  ),
  {
    ...way('dates an inner entry an hour too late', ['recorded_time'], (exchange) => dated(exchange, 3_600)),
    noticedBy: 'a stranger, by a lower level',
  },
  way('logs records in another order', ['record_order'], (exchange) =>
    forged(exchange, unchanged, { order: firstTwoSwapped }),
  ),
  way('forges a receipt, and logs it', ['receipt_signature'], (exchange) => forged(exchange, FORGED_RECEIPT)),
  way('backdates a key that entered the log after what it signed', ['key_logged_before_use'], (exchange) =>
    forged(exchange, unchanged, { order: last((kind) => !isRecord(kind)) }),
  ),
  {
    ...way(
      'lets a revoked key sign, and claims an earlier time',
      ['key_used_before_revocation'],
      (exchange) => forged(exchange, unchanged, { order: last(isRecord) }),
    ),
    noticedBy: 'a stranger, by a lower level',
  },
  way('leaves out the revocation of a key, before a later key event', ['key_event_numbers'], ({ capsule }) =>
    edited(capsule, (c) => {
      c.log.key_events = c.log.key_events.filter(({ kind }) => kind !== 'revoked')
    }),
  ),
  way('logs key events far beyond the numbers that their owner watches', ['key_event_numbers'], (exchange) =>
    forged(exchange, (c) => {
      for (const event of agentEvents(c)) event.number += 10_000
    }),
  ),
  way('replaces the checkpoint by one of another tree', ['record_leaf'], async (exchange) => {
    const [honest, other] = [
      await forged(exchange, unchanged),
      await forged(exchange, unchanged, { order: firstTwoSwapped }),
    ]
    return { ...honest, log: { ...honest.log, checkpoint: other.log.checkpoint } }
  }),
  {
    ...way('proves the leaf of another package in place of its own', ['record_leaf'], async (exchange) => {
      const { proxy, thread, packages } = exchange
      const [own, other] = packages.map(({ metadata }) => metadata.package_id)
      proxy.before = () => undefined
      let foreign: object[] = []
      proxy.after = ({ path }, reply) => {
        if (!path.startsWith('/log/records')) return reply
        if (path.includes(String(own)))
          return changed(reply, (body) => {
            foreign = body['records'] as object[]
            return body
          })
        if (!path.includes(String(other))) return reply
        return changed(reply, (body) => {
          const [first, ...rest] = body['records'] as object[]
          const { index, salt } = foreign[0] as { index: number; salt: string }
          return { ...body, records: [{ ...first, index, salt }, ...rest] }
        })
      }
      const { capsule } = await readCapsule(thread.bolt, { threadId: thread.threadId })
      return capsule as CapsuleV3
    }),
    noticedBy: 'a stranger, in the capsule that a party collected',
  },
]
