import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import type { SignedDecision } from './approval.ts'
import { MAXIMUM_DRAFT_BYTES, MAXIMUM_OPEN_DRAFTS } from './draft-limits.ts'
import type { DraftRecord, DraftStore } from './draft-store.ts'

type NewDraft = Parameters<DraftStore['add']>[0]

const idOf = (number: number) => `draft_${number.toString(16).padStart(32, '0')}`
const dayOf = (number: number) => new Date(Date.UTC(2026, 2, number)).toISOString()
const WORD = 'canary-copper-orchard'

function draftOf(number: number, summary = WORD): NewDraft {
  const object = exampleObjects.reasoning_package
  const party = { organization_id: 'org_a', agent_id: 'agent_a' }
  return {
    draft_id: idOf(number),
    created_at: dayOf(number),
    content: {
      format: 'aex-draft-content/1',
      sender: party,
      recipient: party,
      package_id: `pkg_${number}`,
      thread_id: 'thread_1',
      content_type: 'application/json',
      skill: { id: 'skill_alignment', version: '1.0.0' },
      policy: exampleObjects.policy_envelope,
      object: { ...object, reasoning: { ...object.reasoning, summary } },
    },
  }
}

const decisionOf = (draftId: string, reason: string): SignedDecision => ({
  format: 'aex-approval/1',
  approval_reference: 'approval_1',
  draft_id: draftId,
  draft_digest: 'sha-256:a',
  decision: 'approved',
  decided_at: dayOf(2),
  name: 'Ida Berg',
  reason,
  signature: { key_id: 'key_1', algorithm: 'ES256', signature: 'c2ln' },
})

const sentOf = (number: number) => ({
  digest: 'sha-256:a',
  package_id: `pkg_${number}`,
  thread_id: 'thread_1',
  sent_at: dayOf(number + 10),
})

/** What every store of drafts and of the decisions about them has to do. */
export function testDraftStore(name: string, create: () => DraftStore | Promise<DraftStore>): void {
  test(`${name}: the first draft of an id stays, and comes back as it was`, async () => {
    const store = await create()
    assert.deepEqual(await store.ids(), [])
    const first = await store.add(draftOf(1))
    assert.deepEqual(await store.add(draftOf(1, 'another')), first)
    assert.deepEqual(await store.read(idOf(1)), first)
    const { format: _, version: __, ...given } = first
    assert.deepEqual(given, draftOf(1))
    await store.add(draftOf(2))
    assert.deepEqual([...(await store.ids())].toSorted(), [idOf(1), idOf(2)])
  })

  test(`${name}: an id that is unknown, or is none, is missing`, async () => {
    const store = await create()
    for (const draftId of [idOf(7), '../approver', 'draft_1', ''])
      for (const call of [
        () => store.read(draftId),
        () => store.remove(draftId),
        () => store.decide(draftId, async () => decisionOf(draftId, 'yes')),
      ])
        await assert.rejects(call(), { code: 'draft_missing' }, draftId)
    assert.equal(await store.findSent(idOf(7)), undefined)
  })

  test(`${name}: [POL-03] decisions about one draft are made one after the other, each seeing the one before`, async () => {
    const store = await create()
    await store.add(draftOf(1))
    const seen: (string | undefined)[] = []
    const decide = (reason: string) =>
      store.decide(idOf(1), async ({ decision }: DraftRecord) => {
        seen.push(decision?.reason)
        return decisionOf(idOf(1), reason)
      })
    await Promise.all([decide('one'), decide('other')])
    const last = (await store.read(idOf(1))).decision?.reason
    assert.equal(seen[0], undefined)
    assert.deepEqual(new Set([seen[1], last]), new Set(['one', 'other']))
    const kept = await store.decide(idOf(1), async () => undefined)
    assert.deepEqual([kept.decision?.reason, (await store.read(idOf(1))).decision?.reason], [last, last])
    const failing = store.decide(idOf(1), () => Promise.reject(new RangeError('no')))
    await assert.rejects(failing, RangeError)
    assert.equal((await store.read(idOf(1))).decision?.reason, last)
  })

  test(`${name}: a sent draft keeps its decision and loses its content, once`, async () => {
    const store = await create()
    await store.add(draftOf(1))
    await store.decide(idOf(1), async () => decisionOf(idOf(1), 'yes'))
    await store.close(idOf(1), sentOf(1))
    await store.close(idOf(1), sentOf(5))
    await store.close(idOf(9), sentOf(9))
    const sent = await store.findSent(idOf(1))
    assert.deepEqual([sent?.package_id, sent?.decision?.reason, sent?.sent_at], ['pkg_1', 'yes', dayOf(11)])
    assert.doesNotMatch(JSON.stringify(sent), new RegExp(WORD, 'u'))
    assert.deepEqual([await store.ids(), await store.findSent(idOf(9))], [[], undefined])
    for (const call of [
      () => store.read(idOf(1)),
      () => store.add(draftOf(1)),
      () => store.remove(idOf(1)),
      () => store.decide(idOf(1), async () => decisionOf(idOf(1), 'late')),
    ])
      await assert.rejects(call(), { code: 'draft_sent' })
  })

  test(`${name}: sent drafts are listed, the newest first`, async () => {
    const store = await create()
    for (const number of [1, 2, 3]) {
      await store.add(draftOf(number))
      await store.close(idOf(number), sentOf(number))
    }
    const ids = async (limit: number) => (await store.sent(limit)).map(({ draft_id }) => draft_id)
    assert.deepEqual(await ids(9), [idOf(3), idOf(2), idOf(1)])
    assert.deepEqual(await ids(2), [idOf(3), idOf(2)])
  })

  test(`${name}: a removed draft is gone, and may be made again`, async () => {
    const store = await create()
    await store.add(draftOf(1))
    await store.remove(idOf(1))
    assert.deepEqual(await store.ids(), [])
    await assert.rejects(store.read(idOf(1)), { code: 'draft_missing' })
    assert.equal((await store.add(draftOf(1, 'again'))).draft_id, idOf(1))
  })

  test(`${name}: size and number of open drafts have a limit`, async () => {
    const store = await create()
    await assert.rejects(store.add(draftOf(1, 'x'.repeat(MAXIMUM_DRAFT_BYTES))), { code: 'draft_limit' })
    for (let number = 1; number <= MAXIMUM_OPEN_DRAFTS; number++) await store.add(draftOf(number))
    await assert.rejects(store.add(draftOf(MAXIMUM_OPEN_DRAFTS + 1)), { code: 'draft_limit' })
    assert.equal((await store.add(draftOf(1))).draft_id, idOf(1))
    await store.close(idOf(1), sentOf(1))
    assert.equal((await store.add(draftOf(MAXIMUM_OPEN_DRAFTS + 1))).draft_id, idOf(MAXIMUM_OPEN_DRAFTS + 1))
  })
}
