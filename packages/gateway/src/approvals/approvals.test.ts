import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removePerson } from '../people/people.ts'
import { addDelegation, endDelegation } from './delegations.ts'
import { removeRule } from './approval-rules.ts'
import { startApprovals } from './approvals.fixture.ts'
import { listDecisions } from './decision-rows.ts'
import { verifyStoredApproval } from './verify-stored-approval.ts'

const ADMIN = { kind: 'command', id: 'admin' } as const
const refusedAs = (reason: string) => (error: unknown) => {
  const { code, details } = error as { code: string; details: { reason?: string } }
  assert.deepEqual([code, details.reason], ['approval_invalid', reason])
  return true
}

test('one approver is enough without a rule, and the receipt gets a reference that names nobody', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  assert.equal(await at.isRequired(draft), false, 'the policy alone says whether a person is needed')
  await assert.rejects(at.required(draft), { code: 'approval_waiting' })
  assert.equal(await at.decide(ida, draft), 'approved')
  const { reference, approvedAt } = await at.required(draft)
  assert.match(reference, /^approval_[0-9a-f-]{36}$/u)
  assert.equal(approvedAt, at.now().toISOString())
  const { decisions, needs, hindrance } = await at.view(ida, draft)
  assert.deepEqual([decisions[0]?.person, decisions[0]?.reason], ['ida', 'Checked.'])
  assert.deepEqual([needs.length, hindrance], [1, undefined])
  at.later(86_401)
  await assert.rejects(at.required(draft), refusedAs('too_old'))
})

test('a decline binds and needs a reason; the database holds it encrypted and lets nobody change a decision', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  await assert.rejects(at.record(ida, draft, await at.answer(ida, draft, 'declined'), ' '), {
    code: 'reason_missing',
  })
  await at.record(ida, draft, await at.answer(ida, draft, 'declined'), 'The price is missing.')
  await assert.rejects(at.required(draft), { code: 'approval_declined' })
  const rows = await at.db`select * from draft_decision`
  assert.equal(JSON.stringify(rows).includes('price'), false)
  await assert.rejects(async () => at.db`update draft_decision set decision = 'approved'`, /append-only/u)
  await assert.rejects(async () => at.db`delete from draft_decision`, /append-only/u)
})

test('a forged or repeated assertion is refused, and nothing is recorded', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const [draft, other] = [await at.draft(), await at.draft((made) => ({ ...made, id: 'pkg_2' }))]
  const { digest } = draft.stored
  const forgeries = [
    { origin: 'https://gateway.company.example:8443' },
    { rpId: 'company.example' },
    { userVerified: false },
    { userPresent: false },
    { counter: 1 },
    { counter: 0 },
    { type: 'webauthn.create' },
  ]
  for (const forgery of forgeries)
    await assert.rejects(
      async () => at.record(ida, draft, await at.answer(ida, draft, 'approved', { counter: 5, ...forgery })),
      { code: 'passkey_invalid' },
      JSON.stringify(forgery),
    )
  const forOther = await at.answer(ida, other)
  await assert.rejects(at.record(ida, draft, forOther), { code: 'draft_changed' }, 'of another draft')
  const changed = await at.draft((made) => ({ ...made, id: 'pkg_3' }))
  const shown = { agentId: at.agentId, draft: changed.stored, digest }
  await assert.rejects(at.decisions.options(ida, shown, 'approved'), { code: 'draft_changed' })
  const late = await at.answer(ida, draft)
  at.later(360)
  await assert.rejects(at.record(ida, draft, late), { code: 'challenge_unknown' }, 'six minutes later')
  const eve = await at.person('eve')
  const idas = await at.answer(ida, draft)
  await assert.rejects(at.record(eve, draft, idas), { code: 'challenge_unknown' }, 'of another person')
  assert.deepEqual(await listDecisions(at.db, at.agentId, draft.stored.draftId), [])

  const answer = await at.answer(ida, draft)
  await at.record(ida, draft, answer)
  await assert.rejects(at.record(ida, draft, answer), { code: 'challenge_unknown' }, 'a replay')
})

test('a counter that goes back is refused', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  await at.record(ida, draft, await at.answer(ida, draft, 'approved', { counter: 9 }))
  const back = await at.answer(ida, draft, 'approved', { counter: 8 })
  await assert.rejects(at.record(ida, draft, back), { code: 'passkey_invalid' })
})

test('send refuses what was moved, changed or withdrawn after the decision', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  await at.decide(ida, draft)
  await at.required(draft)
  const changed = await at.draft((made) => ({ ...made, id: 'pkg_2' }))
  const { draft_id } = draft.subject.record
  const moved = {
    ...changed,
    subject: { ...changed.subject, record: { ...changed.subject.record, draft_id } },
  }
  await assert.rejects(at.required(moved), refusedAs('draft_changed'))
  const rule = await at.rule({ partner: 'org_other' })
  await at.required(draft)
  await removeRule(at.db, rule.ruleId, { actor: ADMIN, now: at.now() })
  const fitting = await at.rule({ partner: 'org_bolt' })
  await assert.rejects(at.required(draft), refusedAs('rule_changed'))
  await removeRule(at.db, fitting.ruleId, { actor: ADMIN, now: at.now() })
  await at.required(draft)
  await at.passkeys.remove(ida.personId, at.keyOf(ida).credentialId)
  await assert.rejects(at.required(draft), refusedAs('passkey_removed'))
  const again = await at.person('ida')
  await assert.rejects(at.decide(again, draft), { code: 'passkey_too_new' }, 'registered after the draft')
})

test('a rule that changes while the person reads voids the question', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  const answer = await at.answer(ida, draft)
  await at.rule({ people: 2 })
  await assert.rejects(at.record(ida, draft, answer), { code: 'rule_changed' })
})

test('a removed passkey cannot decide', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  const answer = await at.answer(ida, draft)
  await at.passkeys.remove(ida.personId, at.keyOf(ida).credentialId)
  await assert.rejects(at.record(ida, draft, answer), { code: 'passkey_unknown' })
})

test('two people are two people, and never the one who wrote the draft', async () => {
  await using at = await startApprovals()
  const [ida, ole, liv] = [await at.person('ida'), await at.person('ole'), await at.person('liv')]
  await at.rule({ sensitivity: 'internal', people: 2 })
  const draft = await at.draft()
  assert.equal(await at.isRequired(draft), true, 'a rule asks for people whatever the policy says')
  await at.wrote(liv, draft)
  await at.decide(ida, draft)
  await at.decide(ida, draft)
  await assert.rejects(at.required(draft), { code: 'approval_waiting' }, 'one person twice')
  await assert.rejects(at.decide(liv, draft), { code: 'drafter' })
  assert.match((await at.view(liv, draft)).hindrance ?? '', /You wrote this draft/u)
  await at.decide(ole, draft)
  await at.required(draft)
  await at.wrote(ole, draft)
  await assert.rejects(at.required(draft), refusedAs('drafter'), 'who approved, and then drafted the same')
})

test('a delegate decides until the day that was given, and counts as one with the person', async () => {
  await using at = await startApprovals()
  const [ida, ole] = [await at.person('ida'), await at.person('ole', false)]
  await at.rule({ approvers: [ida.personId] })
  const draft = await at.draft()
  await assert.rejects(at.decide(ole, draft), { code: 'not_an_approver' })
  const until = new Date(at.now().getTime() + 3_600_000)
  const by = { actor: ADMIN, now: at.now() }
  const terms = { from: ida.personId, to: ole.personId, endsAt: until }
  const { delegationId } = await addDelegation(at.db, terms, by)
  await at.decide(ole, draft)
  await at.required(draft)
  const { decisions, needs } = await at.view(ole, draft)
  assert.equal(decisions[0]?.onBehalfOf, 'ida')
  assert.deepEqual(needs, ['One person of ida must approve, and never whoever wrote it.'])
  await at.rule({ people: 2 })
  for (const person of [ida, ole]) await at.decide(person, draft)
  await assert.rejects(at.required(draft), { code: 'approval_waiting' })
  at.later(1)
  const open = await at.answer(ole, draft)
  await endDelegation(at.db, delegationId, { actor: ADMIN, now: at.now() })
  await assert.rejects(at.record(ole, draft, open), { code: 'not_an_approver' }, 'it ended meanwhile')
  await assert.rejects(at.decide(ole, draft), { code: 'not_an_approver' })
  await assert.rejects(
    addDelegation(at.db, { ...terms, endsAt: new Date(at.now().getTime() + 93 * 86_400_000) }, by),
    { code: 'delegation_time' },
  )
})

test('rules fit by partner, policy, package type and sensitivity', async () => {
  await using at = await startApprovals()
  const draft = await at.draft((made) => ({
    ...made,
    package_type: 'capacity_response',
    facts: made.facts.map((fact) => ({ ...fact, sensitivity: 'confidential' as const })),
  }))
  const others = [
    { partner: 'org_other' },
    { policyId: 'pol_other' },
    { packageType: 'demand_change_reasoning' },
    { sensitivity: 'restricted' },
    { partner: 'org_bolt', policyId: 'pol_other' },
  ] as const
  for (const terms of others) await at.rule(terms)
  assert.equal(await at.isRequired(draft), false)
  const fitting = [
    { partner: 'org_bolt' },
    { policyId: 'pol_1' },
    { packageType: 'capacity_response' },
    { sensitivity: 'confidential' },
  ] as const
  for (const terms of fitting) {
    const { ruleId } = await at.rule(terms)
    assert.equal(await at.isRequired(draft), true, JSON.stringify(terms))
    await removeRule(at.db, ruleId, { actor: ADMIN, now: at.now() })
  }
})

test('a stored decision is verified again from its bytes alone, and one changed byte shows', async () => {
  await using at = await startApprovals()
  const ida = await at.person('ida')
  const draft = await at.draft()
  await at.decide(ida, draft)
  const [stored] = await listDecisions(at.db, at.agentId, draft.stored.draftId)
  assert.ok(stored)
  const verdict = await verifyStoredApproval(stored)
  assert.equal(verdict.verified && verdict.statement.approver, ida.personId)
  const flipped = (bytes: Uint8Array, index: number) => {
    const copy = new Uint8Array(bytes)
    copy[index] = (copy[index] ?? 0) ^ 1
    return copy
  }
  const faults = [
    ['statement', { statement: `${stored.statement} ` }],
    ['statement', { statement: stored.statement.replace('draft-decision/1', 'draft-decision/2') }],
    ['assertion', { statement: stored.statement.replace('person_ida', 'person_eve') }],
    ['assertion', { clientData: flipped(stored.clientData, 30) }],
    ['assertion', { authenticatorData: flipped(stored.authenticatorData, 36) }],
    ['assertion', { signature: flipped(stored.signature, 20) }],
    ['assertion', { origin: 'https://evil.example' }],
    ['assertion', { rpId: 'evil.example' }],
    ['assertion', { counterBefore: 100 }],
    ['answered_late', { answeredAt: new Date(at.now().getTime() + 360_000).toISOString() }],
    ['passkey_not_fresh', { signedInAt: '2026-11-17T09:00:00.000Z' }],
  ] as const
  for (const [fault, change] of faults)
    assert.deepEqual(
      await verifyStoredApproval({ ...stored, ...change }),
      { verified: false, fault },
      Object.keys(change).join(),
    )
})

test('a decline binds for ever: no rule, age or removed passkey ends it, only the same person', async () => {
  await using at = await startApprovals()
  const [ida, ole] = [await at.person('ida'), await at.person('ole')]
  const draft = await at.draft()
  await at.decide(ida, draft, 'declined')
  await at.decide(ole, draft)
  const declined = () => assert.rejects(at.required(draft), { code: 'approval_declined' })
  await declined()
  at.later(86_401)
  await at.decide(ole, draft)
  await declined()
  await at.rule({ partner: 'org_bolt' })
  await at.decide(ole, draft)
  await declined()
  await at.decide(ida, draft)
  await at.required(draft)
  await at.passkeys.remove(ida.personId, at.keyOf(ida).credentialId)
  await declined()
  await removePerson(at.db, at.now(), ida.personId, { kind: 'command', id: 'root' })
  await declined()
})

test('a decline that its person took back stays taken back when the approval gets too old', async () => {
  await using at = await startApprovals()
  const [ida, ole] = [await at.person('ida'), await at.person('ole')]
  const draft = await at.draft()
  await at.decide(ida, draft, 'declined')
  await at.decide(ida, draft)
  at.later(86_401)
  await assert.rejects(at.required(draft), refusedAs('too_old'))
  await at.decide(ole, draft)
  await at.required(draft)
})

test('the approval of a person who was removed or is no approver any more does not count', async () => {
  await using at = await startApprovals()
  const [ida, ole] = [await at.person('ida'), await at.person('ole')]
  const draft = await at.draft()
  await at.decide(ida, draft)
  await at.required(draft)
  await at.setRoles(ida, 'reader')
  await assert.rejects(at.required(draft), refusedAs('not_an_approver'))
  await at.setRoles(ida, 'approver')
  await at.required(draft)
  await at.decide(ole, draft)
  // Without the removal of the passkeys, which is another check.
  await at.db`update person set removed_at = ${at.now().toISOString()}`
  await assert.rejects(at.required(draft), refusedAs('not_an_approver'))
})

test('a delegation gives nothing that its giver does not have, neither at the decision nor at send', async () => {
  await using at = await startApprovals()
  const [ida, ole, kim] = [
    await at.person('ida'),
    await at.person('ole', false),
    await at.person('kim', false),
  ]
  const draft = await at.draft()
  const endsAt = new Date(at.now().getTime() + 3_600_000)
  const by = { actor: ADMIN, now: at.now() }
  const delegate = (from: string, to = ole.personId) => addDelegation(at.db, { from, to, endsAt }, by)
  await assert.rejects(delegate('person_none'), { code: 'person_unknown' })
  await assert.rejects(delegate(ida.personId, 'person_none'), { code: 'person_unknown' })
  await assert.rejects(delegate(kim.personId), { code: 'delegator_not_approver' })
  await delegate(ida.personId)
  await at.setRoles(ida, 'reader')
  await assert.rejects(at.decide(ole, draft), { code: 'not_an_approver' })
  await at.setRoles(ida, 'approver')
  await at.decide(ole, draft)
  await at.required(draft)
  await at.setRoles(ida, 'reader')
  await assert.rejects(at.required(draft), refusedAs('not_an_approver'))
  await at.setRoles(ida, 'approver')
  await at.required(draft)
  await at.db`update person set removed_at = ${at.now().toISOString()} where person_id = ${ole.personId}`
  await assert.rejects(at.required(draft), refusedAs('not_an_approver'), 'the delegate is gone')
})

test('a rule names only people who are here', async () => {
  await using at = await startApprovals()
  await assert.rejects(at.rule({ approvers: ['person_none'] }), { code: 'person_unknown' })
})

test('a draft whose author is not known needs two people', async () => {
  await using at = await startApprovals()
  const [ida, ole] = [await at.person('ida'), await at.person('ole')]
  const draft = await at.draft((made) => made, 'unknown')
  assert.match((await at.view(ida, draft)).needs.join(), /not known who wrote this draft: two people/u)
  await at.decide(ida, draft)
  await assert.rejects(at.required(draft), { code: 'approval_waiting' })
  await at.decide(ole, draft)
  await at.required(draft)
})

test('whoever drafted with a token of their own does not approve the draft, even if they came to the desk later', async () => {
  await using at = await startApprovals()
  const holder = { issuer: 'https://login.company.example', subject: 'u-1' }
  const author = { kind: 'model', id: 'token:assistant', holder } as const
  const [ida, ole] = [await at.person('ida'), await at.person('ole')]
  const draft = await at.draft((made) => made, author)
  await at.decide(ida, draft)
  await at.required(draft)
  await at.db`update person set issuer = ${holder.issuer}, subject = 'u-1' where person_id = ${ida.personId}`
  await assert.rejects(at.required(draft), refusedAs('drafter'))
  await assert.rejects(at.decide(ida, draft), { code: 'drafter' })
  await at.decide(ole, draft)
  await at.required(draft)
})

test('a draft needs whoever can bring it nearer to what its rules ask for, and nobody else', async () => {
  await using at = await startApprovals()
  const [ida, ole, liv] = [await at.person('ida'), await at.person('ole'), await at.person('liv', false)]
  const first = await at.rule({ approvers: [ida.personId] })
  const draft = await at.draft()
  const needed = async () => [
    await at.isNeeded(ida, draft),
    await at.isNeeded(ole, draft),
    await at.isNeeded(liv, draft),
  ]
  assert.deepEqual(await needed(), [true, false, false], 'the named approver alone')
  const endsAt = new Date(at.now().getTime() + 3_600_000)
  const by = { actor: ADMIN, now: at.now() }
  await addDelegation(at.db, { from: ida.personId, to: liv.personId, endsAt }, by)
  assert.deepEqual(await needed(), [true, false, true], 'and the delegate')
  await at.decide(liv, draft)
  assert.deepEqual(await needed(), [false, false, false], 'they count once together')
  await removeRule(at.db, first.ruleId, by)
  assert.deepEqual(await needed(), [true, true, true], 'the approval is void')
  await at.decide(ole, draft)
  assert.deepEqual(await needed(), [false, false, false])
  at.later(86_401)
  assert.deepEqual(await needed(), [true, true, false], 'too old, and the delegation ended')
  await at.wrote(ida, draft)
  assert.deepEqual(await needed(), [false, true, false], 'never whoever wrote it')
})
