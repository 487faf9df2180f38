import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertQuiet, openBrowser, screenshot, type TestBrowser } from '@agent-exchange/testkit/browser'
import type { DeskVisit } from '../desk-visit.ts'
import { runDemo } from '../run-demo.ts'
import { createTimeline } from '../timeline.ts'

let browser: TestBrowser
before(async () => {
  browser = await openBrowser()
})
after(() => browser?.[Symbol.asyncDispose]())

/** The person of the demo, with a real browser. */
async function approveInBrowser(visit: DeskVisit): Promise<void> {
  await using watched = await browser.open(visit.link)
  const { page } = watched
  await page.getByRole('link', { name: 'Reasoning package' }).click()
  assert.equal(page.url(), visit.page)
  await page.getByText(visit.expected).first().waitFor()
  assert.equal(await page.getByText('passed', { exact: true }).count(), 5)
  await screenshot(page, 'demo-mcp-draft')
  await page.getByLabel('Your name').fill(visit.name)
  await page.getByLabel('Reason').fill(visit.reason)
  await page.getByLabel('Approver passphrase').fill(visit.passphrase)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The draft can be sent now').waitFor()
  assertQuiet(watched)
}

test('[POL-03] two models tell the story through MCP, and a person approves in a browser', async () => {
  const printed: string[] = []
  const timeline = createTimeline({
    now: () => performance.now(),
    print: (line) => void printed.push(line),
    colour: false,
    columns: 80,
  })
  await using demo = await runDemo({
    transport: 'native',
    mcp: { approve: approveInBrowser },
    timeline,
    now: () => new Date(),
  })
  assert.deepEqual(
    printed.filter((line) => line.length > 80),
    [],
  )
  const { story, agents } = demo
  assert.equal(story.packageIds.length, 6)
  assert.deepEqual(
    Object.values(story.evidence).flatMap(({ contradictions }) => contradictions),
    [],
  )
  assert.ok('folder' in agents.supplier)
  const { policyReceipt } = await agents.supplier.open(story.packageIds[0] ?? '', { receipts: 'none' })
  const { required, outcome } = policyReceipt.receipt.human_approval
  assert.deepEqual([required, outcome], [true, 'approved'])
  const approved = (await agents.manufacturer.drafts.sent()).find(({ decision }) => decision)
  assert.equal(approved?.packageId, story.packageIds[0])

  // The desk is still open, and shows the conversation.
  await using watched = await browser.open(demo.deskLink?.() ?? '')
  await watched.page.locator(`a[href="/threads/${story.threadId}"]`).first().click()
  await watched.page.getByText('Comfort seats rise in two steps').first().waitFor()
  await screenshot(watched.page, 'demo-mcp-thread')
})
