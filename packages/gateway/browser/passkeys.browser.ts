import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  accessibilityFaults,
  addAuthenticator,
  assertNoHorizontalScroll,
  assertQuiet,
  openBrowser,
  picture,
  screenshot,
  type TestBrowser,
} from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import { startApprovingCompany } from '../src/desk/approving-company.fixture.ts'

let company: Awaited<ReturnType<typeof startApprovingCompany>>
let browser: TestBrowser
before(async () => {
  company = await startApprovingCompany()
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await company?.[Symbol.asyncDispose]()
})

async function lookAt(page: Page, name: string): Promise<void> {
  await screenshot(page, `passkeys-${name}`)
  await assertNoHorizontalScroll(page)
  assert.deepEqual(await accessibilityFaults(page), [], name)
}

test('a person registers a passkey in chromium, approves a draft with it, sends it, and signs in again', async () => {
  const { origin } = company
  const { link } = await company.invite('Ida Berg', 'approver')
  await using watched = await browser.open(`${origin}/enter?link=${link}`)
  const { page } = watched
  await page.getByRole('button', { name: 'Sign in' }).click()
  await addAuthenticator(page)
  await page.getByRole('link', { name: 'Passkeys' }).click()
  await lookAt(page, 'none')
  await page.getByLabel('Name').fill('Laptop')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Create the passkey' }).click()
  await page.getByText('The passkey is registered.').waitFor()
  await lookAt(page, 'list')
  await picture(page, 'desk-passkeys', { height: 710 })

  const draft = await company.draft()
  await page.goto(`${origin}/drafts/${draft.draftId}`)
  await lookAt(page, 'draft')
  await page.getByLabel('Reason').fill('Agreed with sales.')
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByText('The gateway is trusted to show what is signed.').waitFor()
  await lookAt(page, 'confirm')
  await picture(page, 'desk-decision', { height: 560 })
  await page.getByRole('button', { name: 'Approve with passkey' }).click()
  await page.getByText('Your approval is recorded.').waitFor()
  await page.getByRole('button', { name: 'Seal and send now' }).click()
  await page.getByText('Sent. The exchange accepted the package.').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.goto(`${origin}/sign-in/passkey`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('Ida Berg').waitFor()
  assertQuiet(watched)
})

test('an administrator invites a person, and sees who may do what', async () => {
  const { origin } = company
  const { link } = await company.invite('Mia Holm', 'administrator')
  for (const [name, ...roles] of [
    ['Ole Dahl', 'planner'],
    ['Kim Lie', 'auditor'],
  ] as const)
    await company.invite(name, ...roles)
  await using watched = await browser.open(`${origin}/enter?link=${link}`)
  const { page } = watched
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByLabel('Name').fill('Eva Lund')
  await page.getByLabel(/^planner/u).check()
  await page.getByLabel(/^approver/u).check()
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText('Give this link to the person.').waitFor()
  await page.goto(`${origin}/people`)
  await page.getByText('Eva Lund').waitFor()
  await picture(page, 'desk-people', { height: 940 })
  await lookAt(page, 'people')
  await page.getByRole('link', { name: 'Eva Lund' }).click()
  await page.getByLabel(/^auditor/u).check()
  await page.getByRole('button', { name: 'Save the roles' }).click()
  await page.getByText('The roles were changed.').waitFor()
  await page.goto(page.url().split('?')[0] ?? '')
  await page.getByText('New link…').click()
  await picture(page, 'desk-person', { height: 900 })
  await lookAt(page, 'person')
  await page.getByRole('button', { name: 'Make a new link' }).click()
  await page.getByText('Give this link to the person.').waitFor()
  await page.getByRole('link', { name: 'Record' }).click()
  await page.getByText('New link for a person').waitFor()
  await page.getByText('Roles of a person changed').waitFor()
  await picture(page, 'desk-record', { height: 560 })
  await lookAt(page, 'record')
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page
    .getByRole('row', { name: /Mia Holm/u })
    .getByRole('button', { name: 'End' })
    .waitFor()
  await lookAt(page, 'sessions')
  assertQuiet(watched)
})
