import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { exampleObjects, validateObject, type ProtocolObject } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk'
import { approveDraft } from '@agent-exchange/sdk/node'
import { startWorld, type World } from '@agent-exchange/testkit'
import {
  accessibilityFaults,
  assertNoHorizontalScroll,
  assertQuiet,
  openBrowser,
  screenshot,
  type TestBrowser,
  type WatchedPage,
} from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import {
  guardedDraft,
  PASSPHRASE,
  SKILL,
  startTwoDesks,
  type DeskSide,
  type TwoDesks,
} from '../src/desk/desk.fixture.ts'

let world: World
let desks: TwoDesks
let browser: TestBrowser

before(async () => {
  world = await startWorld()
  desks = await startTwoDesks(world)
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await desks?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

type BrowserOptions = Parameters<TestBrowser['open']>[1]

const addressOf = ({ desk }: DeskSide, path = '/') => `http://127.0.0.1:${desk.port}${path}`

/** A browser that is signed in at a desk, on one of its pages. */
async function signedIn(side: DeskSide, path = '/', options: BrowserOptions = {}): Promise<WatchedPage> {
  const watched = await browser.open(side.desk.newLink(), options)
  if (path !== '/') await watched.page.goto(addressOf(side, path))
  return watched
}

async function fillDecision(page: Page, passphrase = PASSPHRASE): Promise<void> {
  await page.getByLabel('Your name').fill('Ada Example')
  await page.getByLabel('Reason').fill('The numbers are public.')
  await page.getByLabel('Approver passphrase').fill(passphrase)
}

/** Every page in the widths and schemes of a phone and a laptop. */
async function checkDeskPage(side: DeskSide, name: string, path: string): Promise<void> {
  for (const width of [360, 1_280])
    for (const colorScheme of ['light', 'dark'] as const) {
      await using watched = await signedIn(side, path, { viewport: { width, height: 900 }, colorScheme })
      await screenshot(watched.page, `desk-${name}-${width}-${colorScheme}`)
      await watched.page.evaluate(
        "document.querySelectorAll('main details').forEach((each) => (each.open = true))",
      )
      await assertNoHorizontalScroll(watched.page)
      if ((width === 360) === (colorScheme === 'light'))
        assert.deepEqual(await accessibilityFaults(watched.page), [], `${name} ${width} ${colorScheme}`)
      assertQuiet(watched)
    }
}

test('[POL-03] a draft is approved at the desk, sent, verified by the recipient, and answered', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  await using watched = await signedIn(acme)
  const { page } = watched
  await page.getByRole('link', { name: 'Reasoning package' }).click()
  assert.equal(await page.getByText('passed', { exact: true }).count(), 5)
  await page.getByText('Exactly these bytes are sealed').click()
  assert.match(
    (await page.locator('pre.exact').textContent()) ?? '',
    /"summary":"Rails for two seat variants/u,
  )
  assert.equal(await page.getByRole('button', { name: 'Seal and send now' }).count(), 0)
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The draft can be sent now').waitFor()
  await page.getByRole('button', { name: 'Seal and send now' }).click()
  await page.getByText('Sent. The exchange accepted the package.').waitFor()
  assertQuiet(watched)

  const { policyReceipt, object } = await bolt.agent.open(draft.packageId, { receipts: 'none' })
  const [sent] = await acme.agent.drafts.sent()
  assert.deepEqual(object, draft.object)
  assert.equal(policyReceipt.receipt.human_approval.required, true)
  assert.equal(policyReceipt.receipt.human_approval.approval_reference, sent?.decision?.approval_reference)
  const evidence = JSON.stringify(await bolt.agent.evidence({ packageId: draft.packageId }))
  assert.ok(evidence.includes('human_approved'))
  assert.ok(!evidence.includes('Ada Example'))

  await using other = await signedIn(bolt)
  await other.page.getByRole('link', { name: draft.threadId }).click()
  await other.page.getByText('From the other company').waitFor()
  assert.equal(await other.page.getByText('Rails for two seat variants').count(), 0, 'still sealed')
  await other.page.getByRole('button', { name: 'Open and send receipts' }).click()
  await other.page.getByText('Signed receipts were sent').waitFor()
  await other.page.getByText('Rails for two seat variants').first().waitFor()
  await other.page.getByRole('link', { name: 'Answer' }).click()
  await other.page.getByLabel('Response summary').fill('One variant can wait.')
  await other.page.getByRole('button', { name: 'Make the draft' }).click()
  await other.page.getByText('No draft was made.').waitFor()
  await other.page.getByLabel('Challenge', { exact: true }).check()
  await other.page.getByText('Added facts', { exact: true }).click()
  await other.page.getByLabel('Statement').fill('Variant B is covered until week 13.')
  await other.page.getByLabel('Sensitivity').selectOption('internal')
  await other.page.getByRole('button', { name: 'Make the draft' }).click()
  await other.page.getByText('The answer is a draft.').waitFor()
  await fillDecision(other.page)
  await other.page.getByRole('button', { name: 'Approve' }).click()
  await other.page.getByRole('button', { name: 'Seal and send now' }).click()
  await other.page.getByText('Sent. The exchange accepted').waitFor()
  // The refused form.
  assert.deepEqual(
    other.faults.filter((fault) => !fault.includes('422')),
    [],
  )

  await page.goto(addressOf(acme, `/threads/${draft.threadId}`))
  await page.getByRole('button', { name: 'Open and send receipts' }).click()
  await page.getByText('Variant B is covered until week 13.').first().waitFor()
  await page.getByRole('link', { name: 'Evidence of the thread' }).click()
  await page.getByText('What the signatures prove').waitFor()
  assert.equal(await page.locator('.notice.bad').count(), 0)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the evidence' }).click(),
  ])
  assert.match(readFileSync(await download.path(), 'utf8'), /"thread_id"/u)
})

test('[POL-03] one changed byte after the approval is refused', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  const file = join(acme.agent.folder.files.drafts, `${draft.draftId}.json`)
  const alter = () => writeFileSync(file, readFileSync(file, 'utf8').replace('week 12', 'week 13'))
  await using watched = await signedIn(acme, `/drafts/${draft.draftId}`)
  const { page } = watched
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('button', { name: 'Seal and send now' }).waitFor()
  alter()
  await page.getByRole('button', { name: 'Seal and send now' }).click()
  await page.getByText('draft_altered').waitFor()
  assert.equal(await acme.agent.outbox.read(draft.packageId), undefined)
  await page.goto(addressOf(acme, '/drafts'))
  await page.getByText('A draft was changed after it was made').waitFor()
  await page.getByText('Discard…').click()
  await page.getByRole('button', { name: 'Discard now' }).click()
  await page.getByText('The draft is discarded.').waitFor()
})

test('what is approved is what was shown: a draft that changes under the form is refused', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  const file = join(acme.agent.folder.files.drafts, `${draft.draftId}.json`)
  await using watched = await signedIn(acme, `/drafts/${draft.draftId}`)
  await fillDecision(watched.page)
  writeFileSync(file, readFileSync(file, 'utf8').replace('week 12', 'week 13'))
  await watched.page.getByRole('button', { name: 'Approve' }).click()
  await watched.page.getByText('draft_altered').waitFor()
  await acme.agent.drafts.discard(draft.draftId)
})

test('a declined draft is not sent; a package that nobody opened is revoked', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  await using watched = await signedIn(acme, `/drafts/${draft.draftId}`)
  const { page } = watched
  await fillDecision(page)
  await page.getByRole('button', { name: 'Decline' }).click()
  await page.getByText('Declined. The draft will not be sent.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Seal and send now' }).count(), 0)
  await assert.rejects(acme.agent.drafts.send(draft.draftId), { code: 'approval_declined' })
  await acme.agent.drafts.discard(draft.draftId)

  const terms = { by: acme.agent.identity, to: bolt.agent.identity.organizationId, now: new Date() }
  const policy = newObject('policy_envelope', terms)
  const object = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const { threadId } = await acme.agent.send({ object, policy, to: bolt.agent.identity, skill: SKILL })
  await page.goto(addressOf(acme, `/threads/${threadId}`))
  await page.getByText('Revoke…').click()
  await page.getByLabel('Detail').fill('A newer one follows.')
  await page.getByRole('button', { name: 'Revoke now' }).click()
  await page.getByText('The package is revoked.').waitFor()
  await assert.rejects(bolt.agent.open(object.id), { code: 'content_unavailable' })
})

test('the link signs in one browser once; another site, host or browser gets nothing', async () => {
  const { acme, bolt } = desks
  const link = acme.desk.newLink()
  await using first = await browser.open(link)
  await first.page.getByText('Waiting for you').waitFor()
  await using second = await browser.open(link)
  await second.page.getByText('The link was used or is too old').waitFor()
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

/** Would change the page, call out, or be seen at once if anything took it for markup. */
const MARKUP = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script></bdi></dd>&lt;b&gt;\u202e`

/** Puts the markup into each string that the schema lets be anything. Returns the object and how many it holds. */
function withMarkup(object: ProtocolObject): { readonly object: ProtocolObject; readonly count: number } {
  const copy = structuredClone(object) as unknown as Record<string, unknown>
  let count = 0
  const visit = (at: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(at)) {
      if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>)
      if (typeof value !== 'string' || KEPT.has(name)) continue
      at[name] = MARKUP
      if (validateObject(copy).valid) count += 1
      else at[name] = value
    }
  }
  visit(copy)
  return { object: copy as unknown as ProtocolObject, count }
}
/** Members of a new object that say who, when and under which policy. */
const OWN: ReadonlySet<string> = new Set([
  ...['id', 'thread_id', 'created_by', 'trace', 'sender', 'recipients', 'policy_envelope'],
  ...['policy_id', 'allowed_recipients', 'human_approval'],
])
/** The exchange and the recipient compare these with the metadata. */
const KEPT: ReadonlySet<string> = new Set(['organization_id', 'agent_id', 'thread_id', 'policy_id', 'id'])

test('markup in every free-text member of the six objects is text, in a conversation and in a draft', async () => {
  const { acme, bolt } = desks
  const terms = { by: bolt.agent.identity, to: acme.agent.identity.organizationId, now: new Date() }
  const made = newObject('policy_envelope', terms)
  const policy = {
    ...made,
    purpose: MARKUP,
    granularity: { ...made.granularity, level: MARKUP },
    retention: { duration_days: 90 },
  }
  for (const type of Object.keys(exampleObjects) as (keyof typeof exampleObjects)[]) {
    const fresh = newObject(type, { ...terms, policyId: policy.policy_id })
    const example = structuredClone(exampleObjects[type]) as object
    const own = Object.entries(fresh).filter(([name]) => OWN.has(name))
    const full = { ...fresh, ...example, ...Object.fromEntries(own) } as ProtocolObject
    const { object, count } = withMarkup(full)
    assert.ok(validateObject(full).valid, type)
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
    await using watched = await signedIn(acme, `/threads/${threadId}`)
    await assertText(watched, watched.page.locator(`#${packageId}`), count)
  }
  const sent = await signedIn(acme, '/drafts')
  await assertText(sent, sent.page.locator('main'), 1)
  await sent[Symbol.asyncDispose]()
  const draft = await guardedDraft(acme, bolt, MARKUP)
  await using watched = await signedIn(acme, `/drafts/${draft.draftId}`)
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
  assert.doesNotMatch(await page.title(), /owned/u)
  assertQuiet(watched)
}

test('pages read the same without script', async () => {
  const { acme, bolt } = desks
  const draft = await guardedDraft(acme, bolt)
  await using watched = await signedIn(acme, '/', {
    javaScriptEnabled: false,
    viewport: { width: 360, height: 800 },
  })
  const { page } = watched
  await page.getByRole('link', { name: 'Reasoning package' }).first().click()
  assert.ok(await page.getByText('Rails for two seat variants').first().isVisible())
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The draft can be sent now').waitFor()
  await acme.agent.drafts.discard(draft.draftId)
})

test('the pages are accessible on a phone and a laptop, light and dark', async () => {
  const { acme, bolt } = desks
  const { threadId, packageId } = await bolt.agent.drafts
    .create({ ...(await plain(bolt, acme)) })
    .then(({ draftId }) => bolt.agent.drafts.send(draftId))
  await acme.agent.open(packageId)
  const draft = await guardedDraft(acme, bolt)
  await checkDeskPage(acme, 'overview', '/')
  await checkDeskPage(acme, 'thread', `/threads/${threadId}`)
  await checkDeskPage(acme, 'draft', `/drafts/${draft.draftId}`)
  await checkDeskPage(acme, 'drafts', '/drafts')
  await checkDeskPage(acme, 'answer', `/packages/${packageId}/answer`)
  await checkDeskPage(acme, 'evidence', `/evidence/${threadId}`)
  await acme.agent.drafts.discard(draft.draftId)
})

async function plain({ agent }: DeskSide, to: DeskSide) {
  const terms = { by: agent.identity, to: to.agent.identity.organizationId, now: new Date() }
  const policy = newObject('policy_envelope', terms)
  const fresh = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const { facts, reasoning, business_context, intent, confidence } = exampleObjects.reasoning_package
  const object = { ...fresh, facts, reasoning, business_context, intent, confidence }
  return { object, policy, to: to.agent.identity, skill: SKILL }
}

// The last one: nothing can be approved at this desk afterwards.
test('wrong passphrases are limited, and the right one does not help then', async () => {
  const { bolt, acme } = desks
  const draft = await guardedDraft(bolt, acme)
  await using watched = await signedIn(bolt, `/drafts/${draft.draftId}`)
  const { page } = watched
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
  await using other = await signedIn(bolt, `/drafts/${draft.draftId}`)
  await other.page.getByText('Too many wrong passphrases.').waitFor()
  assert.equal((await bolt.agent.drafts.get(draft.draftId)).state, 'waiting')
})
