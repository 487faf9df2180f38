import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { StoredDraft } from '@agent-exchange/sdk'
import { addRule, removeRule, type RuleTerms } from '../approvals/approval-rules.ts'
import { startApprovingCompany } from './approving-company.fixture.ts'
import { deskVisitor, passkeyOptionsIn, withPasskey } from './desk-visitor.fixture.ts'

const company = await startApprovingCompany()
after(() => company[Symbol.asyncDispose]())
const { origin, hosted, gateway } = company
const by = { actor: { kind: 'command', id: 'Ole Dahl' } as const, now: new Date() }
const OTHER_RULE: RuleTerms = {
  partner: null,
  policyId: null,
  packageType: null,
  sensitivity: null,
  people: 1,
  approvers: [],
}

/** A person with a session and a passkey. */
async function approverNamed(name: string) {
  const guest = deskVisitor(origin)
  await guest.enter((await company.invite(name, 'approver')).link)
  const { key, ...visitor } = await withPasskey(guest, origin)

  /** Reads the draft, asks for its approval and lets the passkey sign. */
  async function sign({ draftId, digest }: StoredDraft): Promise<string> {
    assert.equal((await visitor.get(`/drafts/${draftId}`)).status, 200)
    const fields = { digest, decision: 'approved', reason: 'Agreed.' }
    const page = await visitor.post(`/drafts/${draftId}/decide`, fields)
    return JSON.stringify(key.get(passkeyOptionsIn(page.text)))
  }
  const confirm = ({ draftId }: StoredDraft, digest: string, signed: string) =>
    visitor.post(`/drafts/${draftId}/confirm`, { digest, reason: 'Agreed.', answer: signed })
  return {
    ...visitor,
    sign,
    confirm,
    send: ({ draftId }: StoredDraft) => visitor.post(`/drafts/${draftId}/send`),
  }
}

type Approver = Awaited<ReturnType<typeof approverNamed>>

/** The page says why in a sentence, the draft still waits, and nothing is sealed. */
async function assertRefused(
  { text, status }: { readonly text: string; readonly status: number },
  draft: StoredDraft,
  why: RegExp,
): Promise<void> {
  assert.equal(status, 409, text)
  assert.match(text, why)
  assert.match(text, /Nothing was changed/u)
  await assertNotSent(draft)
}

async function assertNotSent(draft: StoredDraft): Promise<void> {
  assert.equal(await hosted.outbox.read(draft.packageId), undefined)
  assert.equal(
    (await hosted.drafts.sent()).some(({ draftId }) => draftId === draft.draftId),
    false,
  )
}

/** Sending is refused for everybody who might try it. */
async function assertCannotSend(person: Approver, draft: StoredDraft): Promise<void> {
  const page = await person.get(`/drafts/${draft.draftId}`)
  assert.doesNotMatch(page.text, /Seal and send now/u)
  assert.equal((await person.send(draft)).status, 409)
  await assertNotSent(draft)
}

test('an assertion about another draft, or one that was used, approves nothing', async () => {
  const ida = await approverNamed('Ida Berg')
  const [one, other] = [await company.draft(), await company.draft()]
  const aboutOther = await ida.sign(other)
  await assertRefused(await ida.confirm(one, one.digest, aboutOther), one, /not the one that you saw/u)
  await assertCannotSend(ida, one)
  const signed = await ida.sign(one)
  assert.equal((await ida.confirm(one, one.digest, signed)).status, 303)
  await assertRefused(await ida.confirm(one, one.digest, signed), one, /answered already/u)
  await assertRefused(await ida.confirm(other, other.digest, signed), other, /answered already/u)
  await assertCannotSend(ida, other)
})

test('an assertion of one person does not decide in the session of another', async () => {
  const [ida, kim] = [await approverNamed('Ida Two'), await approverNamed('Kim Lie')]
  const draft = await company.draft()
  await kim.sign(draft)
  await assertRefused(
    await kim.confirm(draft, draft.digest, await ida.sign(draft)),
    draft,
    /answered already/u,
  )
  await assertCannotSend(kim, draft)
})

test('a draft that changed between page and decision, or after the decision, is not sent', async () => {
  const ida = await approverNamed('Ida Three')
  const draft = await company.draft()
  const signed = await ida.sign(draft)
  const foreign = (await company.draft()).digest
  await assertRefused(await ida.confirm(draft, foreign, signed), draft, /not the one that you saw/u)
  assert.equal((await ida.confirm(draft, draft.digest, await ida.sign(draft))).status, 303)
  const { db } = gateway
  // Whoever can write to the database puts the content of another draft under the approved one.
  const substitute = await company.draft()
  await db`
    update agent_draft set (wrapped_key, sealed) =
      (select wrapped_key, sealed from agent_draft where draft_id = ${substitute.draftId})
    where draft_id = ${draft.draftId}`
  const sent = await ida.send(draft)
  assert.ok(sent.status >= 400, String(sent.status))
  assert.equal(await hosted.outbox.read(draft.packageId), undefined)
  assert.equal(await hosted.outbox.read(substitute.packageId), undefined)
  await hosted.drafts.discard(draft.draftId)
})

test('a rule that changed between page and decision, or after the decision, asks again', async () => {
  const ida = await approverNamed('Ida Four')
  const draft = await company.draft()
  const signed = await ida.sign(draft)
  const rule = await addRule(gateway.db, OTHER_RULE, by)
  await assertRefused(await ida.confirm(draft, draft.digest, signed), draft, /rules of approval changed/u)
  assert.equal((await ida.confirm(draft, draft.digest, await ida.sign(draft))).status, 303)
  await removeRule(gateway.db, rule.ruleId, by)
  await assertCannotSend(ida, draft)
})

test('a passkey that was removed decides nothing, and what it approved before is void', async () => {
  const ida = await approverNamed('Ida Five')
  const [approved, open] = [await company.draft(), await company.draft()]
  assert.equal((await ida.confirm(approved, approved.digest, await ida.sign(approved))).status, 303)
  const signed = await ida.sign(open)
  const list = (await ida.get('/passkeys')).text
  const [, passkeyId = ''] = /name="passkey_id" value="([^"]+)"/u.exec(list) ?? []
  assert.equal((await ida.post('/passkeys/remove', { passkey_id: passkeyId })).status, 303)
  await assertRefused(
    await ida.confirm(open, open.digest, signed),
    open,
    /not registered here, or it was removed/u,
  )
  await assertCannotSend(ida, approved)
  await assertCannotSend(ida, open)
})

test('one person who approves twice is one person, and whoever drafted never counts', async () => {
  const rule = await addRule(gateway.db, { ...OTHER_RULE, people: 2 }, by)
  const [ida, kim] = [await approverNamed('Ida Six'), await approverNamed('Kim Six')]
  const draft = await company.draft()
  for (let times = 0; times < 2; times++) {
    const answered = await ida.confirm(draft, draft.digest, await ida.sign(draft))
    assert.equal(answered.status, 303)
    await assertCannotSend(ida, draft)
  }
  assert.equal((await kim.confirm(draft, draft.digest, await kim.sign(draft))).status, 303)
  assert.equal((await kim.send(draft)).status, 303)
  await removeRule(gateway.db, rule.ruleId, by)
})

test('a form without the token of the session, or with that of another one, decides nothing', async () => {
  const [ida, kim] = [await approverNamed('Ida Seven'), await approverNamed('Kim Seven')]
  const draft = await company.draft()
  const signed = await ida.sign(draft)
  const fields = { digest: draft.digest, reason: 'Agreed.', answer: signed }
  const [, token = ''] =
    /name="csrf_token" value="([^"]+)"/u.exec((await kim.get(`/drafts/${draft.draftId}`)).text) ?? []
  for (const csrf_token of ['', token]) {
    const refused = await ida.post(`/drafts/${draft.draftId}/confirm`, { ...fields, csrf_token })
    assert.deepEqual([refused.status, /Nothing was changed/u.test(refused.text)], [403, true])
  }
  await assertCannotSend(ida, draft)
})
