import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAuthenticator, openBrowser, screenshot, type WatchedPage } from '@agent-exchange/testkit/browser'
import { FACT, REQUEST, startDayAtWork } from './day-at-work.ts'

const PLANNER = { account: 'paula', name: 'Paula Plan', group: 'planning' }
const APPROVER = { account: 'anders', name: 'Anders Approve', group: 'leads' }
const ANSWER = 'Variant B cannot wait: its line stops on Tuesday.'
const OWN_FACT = 'Variant B has rails for two shifts.'
const OWN_EVIDENCE = 'ev_line_stock_0412'
const EVIDENCE_TRIES = 40

test('the day of a planner', async (t) => {
  const started = performance.now()
  await using day = await startDayAtWork([PLANNER, APPROVER])
  const { origin, provider } = day
  t.diagnostic(`people sign in with ${provider.name}, ready after ${secondsSince(started)} s`)
  await using browser = await openBrowser()
  const signedIn = async (employee: typeof PLANNER) => {
    // The provider's certificate is of an authority that only this test has.
    const watched = await browser.open(`${origin}/sign-in`, { ignoreHTTPSErrors: true })
    await provider.signIn(watched.page, employee)
    await watched.page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
    await watched.page.getByText(employee.name).waitFor()
    return watched
  }

  // The approver has a passkey before anything is drafted.
  await using approving = await signedIn(APPROVER)
  const approver = approving.page
  await addAuthenticator(approver)
  await approver.getByRole('link', { name: 'Passkeys' }).click()
  await provider.signInAgain(approver)
  await approver.getByLabel('Name').fill('Laptop')
  await approver.getByRole('button', { name: 'Continue' }).click()
  await approver.getByRole('button', { name: 'Create the passkey' }).click()
  await approver.getByText('The passkey is registered.').waitFor()

  // The planner sees what is due, reads the story and challenges a fact.
  const threadId = await day.ask()
  await using planning = await signedIn(PLANNER)
  const planner = planning.page
  const due = planner.getByRole('table', { name: 'Answers that you owe' })
  await due
    .getByText(/\bdays?\b/u)
    .first()
    .waitFor()
  await screenshot(planner, 'day-due')
  await due.getByRole('link', { name: REQUEST }).click()
  await planner.getByRole('heading', { name: 'Facts' }).waitFor()
  await screenshot(planner, 'day-story')
  const fact = planner.getByRole('listitem').filter({ hasText: FACT })
  await fact.getByRole('link', { name: 'Challenge' }).click()
  const challenged = planner.getByLabel('Fact of the package')
  assert.equal(await challenged.locator('option:checked').textContent().then(trimmed), FACT)
  await planner.getByLabel('Your answer in a sentence').fill(ANSWER)
  await planner.getByLabel('Statement').fill(OWN_FACT)
  await planner.getByLabel('Evidence').fill(OWN_EVIDENCE)
  await planner.getByLabel('Sensitivity').selectOption('internal')
  await planner.getByRole('button', { name: 'Make the draft' }).click()
  await planner.getByText('The answer is a draft.').waitFor()
  await planner.getByText('You wrote this draft. Another person has to decide about it.').waitFor()
  assert.equal(await planner.getByRole('button', { name: 'Seal and send now' }).count(), 0)

  // The approver finds the draft on the first page and approves it with the passkey.
  await approver.getByRole('link', { name: 'Desk', exact: true }).click()
  await approver.getByRole('table', { name: 'Drafts to decide about' }).getByRole('link').first().click()
  await approver.getByText(ANSWER).first().waitFor()
  await approver.getByLabel('Reason').fill('Agreed with the line.')
  await approver.getByRole('button', { name: 'Approve…' }).click()
  await approver.getByText('The gateway is trusted to show what is signed.').waitFor()
  await approver.getByRole('button', { name: 'Approve with passkey' }).click()
  await approver.getByText('Your approval is recorded.').waitFor()

  // The planner sends it; nothing is due any more.
  await planner.reload()
  await planner.getByRole('cell', { name: APPROVER.name }).waitFor()
  await planner.getByRole('button', { name: 'Seal and send now' }).click()
  await planner.getByText('Sent. The exchange accepted the package.').waitFor()
  assert.equal(await planner.getByRole('table', { name: 'Answers that you owe' }).count(), 0)

  // The other company's gateway has opened the challenge and shows it beside the fact.
  await day.answerArrives(threadId)
  await using receiving = await browser.open(await day.inviteSupplier())
  const supplier = receiving.page
  await supplier.getByRole('button', { name: 'Sign in' }).click()
  await supplier.locator(`a[href="/threads/${threadId}"]`).first().click()
  await supplier.getByRole('listitem').filter({ hasText: FACT }).getByText('Challenged by').waitFor()
  await supplier.getByRole('heading', { name: 'Disputed' }).waitFor()
  await supplier.getByText(ANSWER).first().waitFor()
  await supplier.getByRole('heading', { name: 'Facts' }).waitFor()
  const known = supplier.getByRole('listitem').filter({ hasText: OWN_FACT })
  await known.getByText('org_cars').first().waitFor()
  await screenshot(supplier, 'day-supplier')
  assert.doesNotMatch((await supplier.textContent('body')) ?? '', /Paula|Anders|Agreed with the line/u)
  // The page of the package has the evidence that the story leaves out.
  await supplier.goto(new URL(await packageOf(known), supplier.url()).href)
  await supplier.getByText(OWN_FACT).first().waitFor()
  await supplier.getByText(OWN_EVIDENCE).first().waitFor()

  // The evidence holds without trust in the exchange.
  await planner.goto(`${origin}/threads/${threadId}`)
  await planner.getByRole('link', { name: 'Evidence of the thread' }).click()
  const verdict = await settledVerdict(planner)
  assert.match(verdict, /Consistent.*2 packages/su)
  assert.equal(await planner.locator('.notice.bad').count(), 0)
  await screenshot(planner, 'day-evidence')

  for (const watched of [approving, planning, receiving]) assertNoStranger(watched, provider.origin)
  t.diagnostic(`the day took ${secondsSince(started)} s`)
})

/** The log holds new entries within a moment. Until then a part of the evidence rests on signatures alone. */
async function settledVerdict(page: WatchedPage['page']): Promise<string> {
  let verdict = ''
  for (let tries = 0; tries < EVIDENCE_TRIES; tries++) {
    verdict = (await page.locator('.verdict').first().innerText()).trim()
    if (!/exchange's word/u.test(verdict)) return verdict
    await page.reload()
  }
  return verdict
}

/** The address of the package that a point of the story cites. */
async function packageOf(point: ReturnType<WatchedPage['page']['locator']>): Promise<string> {
  return (await point.locator('a[href^="/packages/"]').first().getAttribute('href')) ?? ''
}

/** The pages of the desk are quiet, and only the sign-in leaves them, for the provider alone. */
function assertNoStranger({ faults, foreignRequests }: WatchedPage, provider: string): void {
  assert.deepEqual(faults, [])
  assert.deepEqual(
    [...new Set(foreignRequests.map((url) => new URL(url).origin))].filter((each) => each !== provider),
    [],
  )
}

const trimmed = (text: string | null) => text?.trim()
const secondsSince = (start: number) => ((performance.now() - start) / 1_000).toFixed(1)
