import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addDelegation } from '../approvals/delegations.ts'
import type { Forgery } from '../approvals/software-authenticator.fixture.ts'
import { listAccess } from '../content/access-record.ts'
import { startApprovingCompany } from './approving-company.fixture.ts'
import { deskVisitor, passkeyOptionsIn, withPasskey } from './desk-visitor.fixture.ts'

const company = await startApprovingCompany()
after(() => company[Symbol.asyncDispose]())
const { origin, hosted } = company

async function person(name: string, ...roles: Parameters<typeof company.invite>[1][]) {
  const visitor = deskVisitor(origin)
  await visitor.enter((await company.invite(name, ...roles)).link)
  return withPasskey(visitor, origin)
}

test('an approver registers a passkey, reads what is signed, approves, and the draft is sent', async () => {
  const ida = await person('Ida Berg', 'approver')
  assert.match((await ida.get('/passkeys')).text, /Laptop/u)
  const draft = await company.draft()
  const path = `/drafts/${draft.draftId}`
  const page = (await ida.get(path)).text
  assert.match(page, /One person must approve, and never whoever wrote it\./u)
  assert.doesNotMatch(page, /passphrase|Seal and send now/u)
  const declined = await ida.post(`${path}/decide`, { digest: draft.digest, decision: 'declined' })
  assert.deepEqual([declined.status, /Give a reason/u.test(declined.text)], [422, true])
  const asked = await ida.post(`${path}/decide`, {
    digest: draft.digest,
    decision: 'approved',
    reason: 'Agreed.',
  })
  for (const words of [/trusted to show what is signed/u, /agent_partner/u, /needs JavaScript/u])
    assert.match(asked.text, words)
  assert.doesNotMatch(asked.text, /<script(?![^>]* src=)|\son\w+=/u, 'no inline script, no inline handler')

  const confirm = (forgery: Forgery) => {
    const answer = JSON.stringify(ida.key.get(passkeyOptionsIn(asked.text), forgery))
    return ida.post(`${path}/confirm`, { digest: draft.digest, reason: 'Agreed.', answer })
  }
  const forged = await confirm({ origin: 'http://localhost:1' })
  assert.deepEqual([forged.status, /Nothing was changed/u.test(forged.text)], [409, true])
  assert.match((await confirm({})).text, /answered already/u, 'the forgery used the challenge up')

  await ida.get(path)
  const again = await ida.post(`${path}/decide`, {
    digest: draft.digest,
    decision: 'approved',
    reason: 'Agreed.',
  })
  const answer = JSON.stringify(ida.key.get(passkeyOptionsIn(again.text)))
  const done = await ida.post(`${path}/confirm`, { digest: draft.digest, reason: 'Agreed.', answer })
  assert.equal(done.headers.get('location'), `${path}?done=approval_recorded`, done.text)
  assert.match((await ida.get(path)).text, /Seal and send now.*approved.*Ida Berg.*Agreed\./su)
  const sent = await ida.post(`${path}/send`)
  assert.equal(sent.status, 303, sent.text)
  assert.equal((await hosted.outbox.read(draft.packageId))?.state, 'accepted')
  assert.match((await ida.get('/drafts')).text, /<h2>Sent<\/h2>[^]*Ida Berg[^]*Agreed\./u)
  assert.doesNotMatch((await ida.get('/drafts')).text, /No approval was needed/u)
  const closed = (await ida.get(path)).text
  assert.match(closed, /Sent draft[^]*approved[^]*Ida Berg[^]*Agreed\./u)
})

test('a reader without a delegation, and a person without a passkey, read why they cannot decide', async () => {
  const reader = await person('Liv Moe', 'reader')
  const draft = await company.draft()
  assert.match((await reader.get(`/drafts/${draft.draftId}`)).text, /You may not decide about this draft/u)
  const fields = { digest: draft.digest, decision: 'approved', reason: 'x' }
  assert.equal((await reader.post(`/drafts/${draft.draftId}/decide`, fields)).status, 409)
  const fresh = deskVisitor(origin)
  await fresh.enter((await company.invite('Ole Dahl', 'approver')).link)
  assert.match((await fresh.get(`/drafts/${draft.draftId}`)).text, /You have no passkey/u)
})

test('whoever sees how a draft begins is in the access record,', async () => {
  const planner = deskVisitor(origin)
  const invited = await company.invite('Per Lie', 'planner')
  await planner.enter(invited.link)
  const draft = await company.draft()
  const readers = async () =>
    (await listAccess(company.gateway.db, hosted.agentId, draft.packageId)).filter(
      ({ actor }) => actor.id === invited.personId,
    ).length
  assert.equal(await readers(), 0)
  assert.match((await planner.get('/drafts')).text, new RegExp(draft.draftId, 'u'))
  assert.equal(await readers(), 1)
  await planner.get('/drafts')
  assert.equal(await readers(), 1, 'once while the session remembers it')
})

test('a draft waits on the first page of the delegate of an approver, who is not one', async () => {
  const { db } = company.gateway
  const ole = await company.invite('Ole Boss', 'approver')
  const liv = await company.invite('Liv Deputy', 'reader')
  const visitor = deskVisitor(origin)
  await visitor.enter(liv.link)
  const draft = await company.draft()
  const link = new RegExp(`/drafts/${draft.draftId}`, 'u')
  assert.doesNotMatch((await visitor.get('/')).text, link)
  const by = { actor: { kind: 'command', id: 'root' } as const, now: company.now() }
  const endsAt = new Date(company.now().getTime() + 3_600_000)
  await addDelegation(db, { from: ole.personId, to: liv.personId, endsAt }, by)
  assert.match((await visitor.get('/')).text, link)
})

test('pages offer only what the roles of the person permit', async () => {
  const draft = await company.draft()
  const reader = await person('Per Lie', 'reader')
  const planner = await person('Siv Moe', 'planner')
  assert.doesNotMatch((await reader.get(`/drafts/${draft.draftId}`)).text, /Discard…|Seal and send now/u)
  assert.match((await planner.get(`/drafts/${draft.draftId}`)).text, /Discard…/u)
  assert.doesNotMatch((await planner.get('/')).text, /aex agent/u)
})
