import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { guardedDraft, PASSPHRASE, startTwoDesks } from './desk.fixture.ts'

test('[POL-03] without the exchange the desk shows what is stored, and a draft can be declined, not approved', async () => {
  const world = await startWorld()
  await using desks = await startTwoDesks(world)
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  await world[Symbol.asyncDispose]()

  const link = acme.desk.newLink()
  const { origin } = new URL(link)
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const get = async (path: string) => {
    const answer = await fetch(`${origin}${path}`, { headers: { cookie } })
    assert.equal(answer.status, 200, path)
    return answer.text()
  }
  assert.match(await get('/'), /Not up to date/u)
  const page = await get(`/drafts/${draft.draftId}`)
  assert.match(page, /The checks could not be evaluated/u)
  assert.match(page, /cannot be approved before its checks were evaluated/u)
  assert.doesNotMatch(page, /value="approved"|>failed</u)
  assert.match(page, /Rails for two seat variants/u)
  const csrf_token = /name="csrf_token" value="([^"]+)"/u.exec(page)?.[1] ?? ''
  const decide = (fields: Record<string, string>) =>
    fetch(`${origin}/drafts/${draft.draftId}/decide`, {
      method: 'POST',
      headers: { cookie, origin },
      redirect: 'manual',
      body: new URLSearchParams({ csrf_token, digest: draft.digest, name: 'Ada', reason: 'No.', ...fields }),
    })
  assert.equal((await decide({ decision: 'declined' })).status, 422, 'no passphrase')
  assert.equal((await decide({ decision: 'sent', passphrase: PASSPHRASE })).status, 409)
  assert.equal((await decide({ decision: 'approved', passphrase: PASSPHRASE })).status, 422)
  assert.equal((await acme.agent.drafts.get(draft.draftId)).state, 'waiting')
  const decided = await decide({ decision: 'declined', passphrase: PASSPHRASE })
  assert.equal(decided.headers.get('location'), `/drafts/${draft.draftId}?done=declined`)
  assert.equal((await acme.agent.drafts.get(draft.draftId)).state, 'declined')
})
