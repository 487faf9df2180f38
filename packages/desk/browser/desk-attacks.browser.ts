import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import { after, before, test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import { approveDraft } from '@agent-exchange/sdk/internal/node'
import { assertQuiet, type WatchedPage } from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import { ANSWER_TASKS } from '../src/answer-tasks.ts'
import { guardedDraft, PASSPHRASE, SKILL } from '../src/desk.fixture.ts'
import { hostileObject, MARKUP } from '../src/hostile-object.fixture.ts'
import { addressOf, fillDecision, startDeskTrial, type DeskTrial } from './desk-trial.fixture.ts'

let trial: DeskTrial
before(async () => {
  trial = await startDeskTrial()
})
after(() => trial?.[Symbol.asyncDispose]())

test('the link signs in one browser once; another site, host or browser gets nothing', async () => {
  const { acme, bolt } = trial
  const link = acme.desk.newLink()
  await using first = await trial.browser.open(link)
  await first.page.getByText('Waiting for you').waitFor()
  await using second = await trial.browser.open(link)
  await second.page.getByText('This link was used already').waitFor()
  await second.page.goto(addressOf(acme, '/drafts'))
  await second.page.getByText('Open the link that').waitFor()
  assert.equal(await second.page.getByText('agent_acme').count(), 0)

  const answered = (path: string, options: object) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: acme.desk.port, path, ...options }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += String(chunk)))
        response.on('end', () => resolve({ status: response.statusCode, text }))
      })
      sent.on('error', reject)
      sent.end()
    })
  const [cookie] = await first.page.context().cookies()
  assert.ok(cookie?.httpOnly)
  assert.deepEqual([cookie.name, cookie.sameSite], [`aex-desk-${acme.desk.port}`, 'Strict'])
  const headers = { cookie: `${cookie.name}=${cookie.value}` }
  assert.equal((await answered('/', { headers })).status, 200)
  const rebound = await answered('/', { headers: { ...headers, host: `evil.example:${acme.desk.port}` } })
  assert.deepEqual([rebound.status, rebound.text], [403, 'refused: host_not_allowed\n'])
  const draft = await guardedDraft(acme, bolt)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const discard = { method: 'POST', headers: { ...headers, ...form } }
  assert.match((await answered(`/drafts/${draft.draftId}/discard`, discard)).text, /^refused: cross_site/u)
  const origin = `http://127.0.0.1:${acme.desk.port}`
  const forged = { method: 'POST', headers: { ...headers, ...form, origin } }
  assert.equal((await answered(`/drafts/${draft.draftId}/discard`, forged)).status, 403, 'no CSRF token')
  assert.equal((await answered('/drafts/..%2f..%2fagent', { headers })).status, 404)
  assert.equal((await answered('//', { headers })).status, 400)
  const unused = acme.desk.newLink()
  assert.equal((await answered(unused.slice(unused.indexOf('/enter')), { method: 'HEAD' })).status, 401)

  const attack = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<iframe src="${addressOf(acme)}"></iframe>
      <form method="post" action="${addressOf(acme, `/drafts/${draft.draftId}/discard`)}"><button>Win</button></form>`)
  })
  await new Promise<void>((done) => void attack.listen(0, '127.0.0.1', done))
  try {
    const { port } = attack.address() as { port: number }
    const { page } = first
    await page.goto(`http://127.0.0.1:${port}/`)
    const frame = page.frames().find((candidate) => candidate.parentFrame() !== null)
    assert.doesNotMatch((await frame?.content()) ?? '', /Waiting for you/u)
    await page.getByRole('button', { name: 'Win' }).click()
    assert.match((await page.textContent('body')) ?? '', /^refused: origin_not_allowed/u)
  } finally {
    attack.closeAllConnections()
    attack.close()
  }
  assert.equal((await acme.agent.drafts.get(draft.draftId)).state, 'waiting')
  await acme.agent.drafts.discard(draft.draftId)
})

test('markup in every free-text member of the six objects is text, in a conversation and in a draft', async () => {
  const { acme, bolt } = trial
  const terms = { by: bolt.agent.identity, to: acme.agent.identity.organizationId, now: new Date() }
  const made = newObject('policy_envelope', terms)
  const policy = {
    ...made,
    purpose: MARKUP,
    granularity: { ...made.granularity, level: MARKUP },
    retention: { duration_days: 90 },
  }
  for (const type of Object.keys(exampleObjects) as (keyof typeof exampleObjects)[]) {
    const { object, count } = hostileObject(type, { ...terms, policyId: policy.policy_id })
    assert.ok(count >= 2, `${type} has free text`)
    let packageId: string
    let threadId: string
    if (object.object_type === 'response_object') {
      const asked = await guardedDraft(acme, bolt)
      const first = { folder: acme.folder, name: 'Ada', reason: MARKUP, passphrase: PASSPHRASE }
      await approveDraft({ ...first, draftId: asked.draftId, digest: asked.digest, decision: 'approved' })
      await acme.agent.drafts.send(asked.draftId)
      const answer = { ...object, thread_id: asked.threadId, responds_to_package_id: asked.packageId }
      ;({ packageId, threadId } = await bolt.agent.respond(asked.packageId, {
        object: answer,
        policy,
        skill: SKILL,
      }))
    } else
      ({ packageId, threadId } = await bolt.agent.send({
        object,
        policy,
        to: acme.agent.identity,
        skill: SKILL,
      }))
    await acme.agent.open(packageId)
    await using watched = await trial.signedIn(acme, `/packages/${packageId}`)
    await assertText(watched, watched.page.locator(`#${packageId}`), count)
    await watched.page.goto(addressOf(acme, `/threads/${threadId}`))
    await assertText(watched, watched.page.locator('main'), 1)
    for (const task of ANSWER_TASKS) {
      await watched.page.goto(addressOf(acme, `/packages/${packageId}/answer/${task}`))
      await assertText(watched, watched.page.locator('main'), 1)
    }
    await watched.page.goto(
      addressOf(acme, `/search?${new URLSearchParams({ text: MARKUP, company: 'bolt' })}`),
    )
    assert.equal(await watched.page.locator('main img, main script, [onerror]').count(), 0)
  }
  const sent = await trial.signedIn(acme, '/drafts')
  await assertText(sent, sent.page.locator('main'), 1)
  await sent[Symbol.asyncDispose]()
  const draft = await guardedDraft(acme, bolt, MARKUP)
  await using watched = await trial.signedIn(acme, `/drafts/${draft.draftId}`)
  await assertText(watched, watched.page.locator('article.package'), 2)
  await acme.agent.drafts.discard(draft.draftId)
})

async function assertText(
  watched: WatchedPage,
  place: ReturnType<Page['locator']>,
  count: number,
): Promise<void> {
  const { page } = watched
  const text = (await place.textContent()) ?? ''
  const shown = text.split(MARKUP.replace('\u202e', '\\u{202e}')).length - 1
  assert.ok(shown >= count, `${shown} of ${count} are shown as text`)
  assert.ok(!text.includes('\u202e'))
  assert.equal(await page.locator('main img, main script, [onerror]').count(), 0)
  // A title may quote the text. If it ran, it would be the title.
  assert.notEqual(await page.title(), 'owned')
  assertQuiet(watched)
}

// The last one: nothing can be approved at this desk afterwards.
test('wrong passphrases are limited, and the right one does not help then', async () => {
  const { bolt, acme } = trial
  const draft = await guardedDraft(bolt, acme)
  await using watched = await trial.signedIn(bolt, `/drafts/${draft.draftId}`)
  const { page } = watched
  await using other = await trial.signedIn(bolt, `/drafts/${draft.draftId}`)
  for (let tries = 1; tries <= 5; tries++) {
    await fillDecision(page, `a wrong passphrase ${tries}`)
    await page.getByRole('button', { name: 'Approve' }).click()
    if (tries < 5) {
      await page.getByText('This is not the approver passphrase.').waitFor()
      assert.equal(await page.getByLabel('Approver passphrase').inputValue(), '')
      assert.equal(await page.getByLabel('Your name').inputValue(), 'Ada Example')
    }
  }
  await page.getByText('Too many wrong passphrases.').waitFor()
  await fillDecision(other.page)
  await other.page.getByRole('button', { name: 'Approve' }).click()
  await other.page.getByText('Too many wrong passphrases.').waitFor()
  assert.equal((await bolt.agent.drafts.get(draft.draftId)).state, 'waiting')
})
