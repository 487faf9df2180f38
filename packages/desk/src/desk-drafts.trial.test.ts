import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { approveDraft, setOrganizationName } from '@agent-exchange/sdk/internal/node'
import { startWorld, type World } from '@agent-exchange/testkit'
import { guardedDraft, PASSPHRASE, startTwoDesks, type TwoDesks } from './desk.fixture.ts'

let world: World
let desks: TwoDesks
let origin: string
let cookie: string
before(async () => {
  const profile = {
    'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
  }
  world = await startWorld({ profile, config: { role: 'all' } })
  desks = await startTwoDesks(world)
  const link = desks.acme.desk.newLink()
  ;({ origin } = new URL(link))
  const entered = await fetch(link, { redirect: 'manual' })
  cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
})
after(async () => {
  await desks?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

async function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${origin}${path}`, { headers: { cookie } })
  return { status: answer.status, text: await answer.text() }
}

async function post(path: string, page: string, fields: Record<string, string> = {}): Promise<Response> {
  const csrf_token = /name="csrf_token" value="([^"]+)"/u.exec(page)?.[1] ?? ''
  return fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { cookie, origin },
    redirect: 'manual',
    body: new URLSearchParams({ csrf_token, ...fields }),
  })
}

test('a link or a session that ended says why, and what to do', async () => {
  const { desk } = desks.bolt
  const enter = async (link: string, headers = {}) => {
    const answer = await fetch(link, { redirect: 'manual', headers })
    return { status: answer.status, text: await answer.text(), cookie: answer.headers.get('set-cookie') }
  }
  const replaced = desk.newLink()
  const link = desk.newLink()
  const signedIn = await enter(link)
  assert.equal(signedIn.status, 303)
  for (const [each, cause] of [
    [link, /This link was used already/u],
    [replaced, /This link was replaced/u],
    [`${link}x`, /This link is not one of this desk/u],
  ] as const) {
    const { status, text } = await enter(each)
    assert.equal(status, 410)
    assert.match(text, cause)
    assert.match(text, /press Enter in the terminal of the desk.*<code>aex agent desk --dir FOLDER<\/code>/su)
  }
  const base = new URL(link).origin
  assert.match((await enter(base)).text, /Signed out/u)
  const [name] = (signedIn.cookie ?? '').split('=')
  assert.match((await enter(base, { cookie: `${name}=of-an-earlier-run` })).text, /Your session has ended/u)
})

const decision = (digest: string) => ({
  digest,
  decision: 'approved',
  name: 'Ada',
  reason: 'Checked.',
  passphrase: PASSPHRASE,
})

test('[POL-03] a draft whose checks fail is not approved: the page says why and what to do', async () => {
  const { acme, bolt } = desks
  const skill = { id: 'skill_unlisted', version: '1.0.0' }
  const draft = await guardedDraft(acme, bolt, 'A fact.', { skill })
  const path = `/drafts/${draft.draftId}`
  const { text } = await get(path)
  assert.match(text, /The recipient does not list the skill/u)
  assert.match(text, /cannot be sent: a check of its policy fails/u)
  assert.doesNotMatch(text, /value="approved"/u)
  assert.match(text, /value="declined"/u)
  assert.match(text, /Discard now/u)
  const refused = await post(`${path}/decide`, text, decision(draft.digest))
  assert.equal(refused.status, 422)
  assert.equal((await acme.agent.drafts.get(draft.draftId)).state, 'waiting')

  // One that was approved while its checks passed.
  await approveDraft({
    ...decision(draft.digest),
    folder: acme.folder,
    draftId: draft.draftId,
    decision: 'approved',
  })
  const approved = await get(path)
  assert.match(approved.text, /cannot be sent: a check of its policy fails/u)
  assert.doesNotMatch(approved.text, /Seal and send now/u)
  assert.match(approved.text, /Discard now/u)
})

test('a check that was not evaluated is not shown as failed', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt, 'A fact.', { purpose: 'another purpose' })
  const { text } = await get(`/drafts/${draft.draftId}`)
  const badges = [...text.matchAll(/class="badge (\w+)">.*?<span>([^<]+)<\/span>/gsu)]
  const results = badges.map(([, tone, label]) => `${tone} ${label?.trim()}`).slice(1)
  assert.deepEqual(results, ['bad failed', ...Array.from({ length: 4 }, () => 'neutral not evaluated')])
})

test('the page of a sent draft says so and leads to its thread, which a new draft does not link yet', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  const path = `/drafts/${draft.draftId}`
  const open = await get(path)
  const thread = `/threads/${draft.threadId}`
  assert.equal(open.text.includes(`href="${thread}"`), false, 'the thread does not exist yet')
  const early = await get(thread)
  assert.equal(early.status, 404)
  assert.match(early.text, /no package of this thread/u)
  const approved = await post(`${path}/decide`, open.text, decision(draft.digest))
  assert.equal(approved.headers.get('location'), `${path}?done=approved`)
  await acme.agent.drafts.send(draft.draftId)

  const sent = await get(path)
  assert.equal(sent.status, 200)
  assert.match(sent.text, /Sent draft/u)
  assert.doesNotMatch(sent.text, /This did not work|notice bad/u)
  assert.ok(sent.text.includes(`href="${thread}"`))
  assert.ok(sent.text.includes(draft.packageId))
  assert.equal((await get(thread)).status, 200)
  // A window that was left open.
  for (const step of ['send', 'decide', 'discard']) {
    const late = await post(`${path}/${step}`, open.text, decision(draft.digest))
    assert.deepEqual([step, late.status, /Sent draft/u.test(await late.text())], [step, 200, true])
  }
  const follower = await acme.agent.drafts.findSent(draft.draftId)
  assert.deepEqual([follower?.packageId, follower?.threadId], [draft.packageId, draft.threadId])
  assert.equal(await acme.agent.drafts.findSent(`draft_${'0'.repeat(32)}`), undefined)
})

test('[AUD-01] the evidence of a package has the names that the owner of the folder gave', async () => {
  const { agent } = desks.acme
  await setOrganizationName(agent.folder.files.settings, 'org_bolt', 'Bolt <Ltd>')
  const { draftId, digest, packageId } = await guardedDraft(desks.acme, desks.bolt)
  const path = `/drafts/${draftId}`
  await post(`${path}/decide`, (await get(path)).text, decision(digest))
  await agent.drafts.send(draftId)
  const { status, text } = await get(`/evidence/${packageId}`)
  assert.equal(status, 200)
  assert.match(text, /org_acme sent this package to “Bolt &lt;Ltd&gt;” \(org_bolt\)/u)
  assert.match(text, /Names: from your own address book; nobody signed them/u)
})
