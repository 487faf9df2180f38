import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openBrowser, screenshot, type TestBrowser } from '@agent-exchange/testkit/browser'
import { QUICK_LOG, until } from '@agent-exchange/testkit'
import type { Page } from 'playwright-core'
import { startApprovingCompany } from '../src/desk/approving-company.fixture.ts'
import { SKILL } from '../src/startup/two-instances.fixture.ts'

/** More than any page of the desk has controls. */
const MAXIMUM_STEPS = 120

let company: Awaited<ReturnType<typeof startApprovingCompany>>
let browser: TestBrowser
let threadId: string
before(async () => {
  company = await startApprovingCompany({ world: { profile: QUICK_LOG, config: { role: 'all' } } })
  threadId = await receivedThread()
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await company?.[Symbol.asyncDispose]()
})

async function receivedThread(): Promise<string> {
  const { partner, hosted, gateway } = company
  const policy = partner.make.policyEnvelope({ to: 'org_seats', purpose: 'supply planning' })
  const object = partner.make.reasoningPackage({
    to: 'org_seats',
    policy,
    summary: 'Rails are short in week 12.',
    facts: ['A coil moved.'],
    ask: 'Confirm week 13.',
  })
  const to = { organizationId: 'org_seats', agentId: hosted.agentId }
  const sent = await partner.send({ object, policy, to, skill: SKILL })
  const page = { threadId: sent.threadId, limit: 1 }
  await until(
    'the package is stored',
    async () => (await gateway.contents.list(hosted.agentId, page)).length > 0,
  )
  return sent.threadId
}

/** Presses Tab until the control with this name has the focus, and checks that each stop is visible. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = []
  for (let steps = 0; steps < MAXIMUM_STEPS; steps++) {
    await page.keyboard.press('Tab')
    const focused = (await page.evaluate(`(() => {
      const at = document.activeElement
      const { outlineStyle, outlineWidth } = getComputedStyle(at)
      const label = at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent
      return { name: label.trim(), isShown: outlineStyle !== 'none' && outlineWidth !== '0px' }
    })()`)) as { name: string; isShown: boolean }
    assert.ok(focused.isShown, `“${focused.name}” has the focus, and does not show it`)
    if (name.test(focused.name)) return
    passed.push(focused.name)
  }
  assert.fail(`no ${String(name)} after ${passed.join(', ')}`)
}

test('a planner finds what is due, challenges a fact and makes the draft with the keyboard alone', async () => {
  const { link } = await company.invite('Paula Plan', 'planner')
  await using watched = await browser.open(`${company.origin}/enter?link=${link}`)
  const { page } = watched
  await tabTo(page, /^Sign in$/u)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
  await tabTo(page, /^Skip to the content$/u)
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  await tabTo(page, /^Confirm week 13\.$/u)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Facts' }).waitFor()
  await tabTo(page, /^Challenge a fact$/u)
  await page.keyboard.press('Enter')
  await page.getByLabel('Your answer in a sentence').waitFor()
  await tabTo(page, /^Fact of the package/u)
  await page.keyboard.press('ArrowDown')
  await tabTo(page, /^Your answer in a sentence/u)
  await page.keyboard.type('The coil did not move.')
  await tabTo(page, /^Make the draft$/u)
  await page.keyboard.press('Enter')
  await page.getByText('The answer is a draft.').waitFor()
})

test('a story on paper has its text in full, and no navigation, forms or buttons', async () => {
  const { link } = await company.invite('Paula Print', 'planner')
  await using watched = await browser.open(`${company.origin}/enter?link=${link}`)
  const { page } = watched
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.goto(`${company.origin}/threads/${threadId}`)
  await page.getByText('Dark', { exact: true }).click()
  await page.emulateMedia({ media: 'print' })
  await screenshot(page, 'print-story')
  assert.ok(await page.getByText('A coil moved.').first().isVisible())
  assert.ok(await page.getByRole('heading', { level: 1 }).isVisible())
  assert.equal(await page.locator('nav:visible, form:visible, button:visible, a.button:visible').count(), 0)
  const ground = await page.evaluate<string>('getComputedStyle(document.body).color')
  const [red = 255] = ground.match(/\d+/gu)?.map(Number) ?? []
  assert.ok(red < 128, `the text is ${ground}, which does not show on white paper`)
})
