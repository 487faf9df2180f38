import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Queries } from '@agent-exchange/database'
import { recordAuthor, type DraftAuthor } from '../approvals/draft-authors.ts'
import { GatewayProblem } from '../problems.ts'
import { lockPart } from '../stores/agent-lock.ts'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import {
  deleteOldProgramDrafts,
  MAXIMUM_DRAFTS_OF_PROGRAM,
  programDrafts,
  requireProgramDraft,
  requireShare,
} from './program-drafts.ts'

const database = await gatewayDatabase()
after(() => database[Symbol.asyncDispose]())
const { db } = database
const NOW = new Date('2026-03-20T00:00:00.000Z')
const system = (id: string): DraftAuthor => ({ kind: 'system', id })
let drafts = 0

async function newDraft(
  agentId: string,
  createdAt = NOW.toISOString(),
  queries: Queries = db,
): Promise<string> {
  const draftId = `draft_${String((drafts += 1)).padStart(32, '0')}`
  await queries`
    insert into agent_draft (agent_id, draft_id, created_at, wrapped_key, sealed)
    values (${agentId}, ${draftId}, ${createdAt}, '', '')`
  return draftId
}
/** As the store of drafts does: one transaction, under the lock of the drafts of the agent. */
const write = (agentId: string, author: DraftAuthor) =>
  db.begin(async (tx) => {
    await lockPart(tx, 'drafts', agentId)
    const draftId = await newDraft(agentId, NOW.toISOString(), tx)
    await recordAuthor(tx, { agentId, draftId, author })
    await requireShare(tx, { agentId, draftId, author })
  })
const authored = (draft: Parameters<typeof recordAuthor>[1]) => db.begin((tx) => recordAuthor(tx, draft))
const idsOf = async (agentId: string) => {
  const rows = await db<{ id: string }[]>`select draft_id as id from agent_draft where agent_id = ${agentId}`
  return rows.map(({ id }) => id)
}

test('a system fills its share of the drafts of an agent, and none beyond it, also by calls at the same time', async () => {
  const agentId = await database.newAgent()
  const results = await Promise.allSettled(
    Array.from({ length: MAXIMUM_DRAFTS_OF_PROGRAM + 3 }, () => write(agentId, system('erp'))),
  )
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  assert.equal(refused.length, 3)
  for (const each of refused) {
    assert.ok(each instanceof GatewayProblem)
    assert.deepEqual([each.code, each.details], ['draft_limit', { of: 'system', maximum: 50 }])
  }
  assert.equal((await idsOf(agentId)).length, MAXIMUM_DRAFTS_OF_PROGRAM)
  await write(agentId, system('ledger'))
})

test('a program sees drafts of programs only, never one that a person wrote', async () => {
  const agentId = await database.newAgent()
  const [own, both, ofPerson, unknown] = await Promise.all([1, 2, 3, 4].map(() => newDraft(agentId)))
  assert.ok(own && both && ofPerson && unknown)
  await authored({ agentId, draftId: own, author: system('erp') })
  await authored({ agentId, draftId: both, author: { kind: 'model', id: 'm' } })
  for (const draftId of [both, ofPerson])
    await authored({ agentId, draftId, author: { kind: 'person', id: 'person_1' } })
  assert.deepEqual([...(await programDrafts(db, agentId, [own, both, ofPerson, unknown]))], [own])
  for (const draftId of [both, ofPerson, unknown])
    await assert.rejects(requireProgramDraft(db, agentId, draftId), { code: 'draft_missing' })
})

test('old drafts of programs end, those of people stay', async () => {
  const agentId = await database.newAgent()
  const at = '2026-03-01T00:00:00.000Z'
  const [old, ofPerson, recent] = [
    await newDraft(agentId, at),
    await newDraft(agentId, at),
    await newDraft(agentId),
  ]
  for (const draftId of [old, recent]) await authored({ agentId, draftId, author: system('erp') })
  await authored({ agentId, draftId: ofPerson, author: { kind: 'person', id: 'person_1' } })
  assert.equal(await deleteOldProgramDrafts(db, NOW), 1)
  assert.deepEqual((await idsOf(agentId)).toSorted(), [ofPerson, recent].toSorted())
})
