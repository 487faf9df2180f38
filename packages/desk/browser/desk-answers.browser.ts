import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  accessibilityFaults,
  assertNoHorizontalScroll,
  assertQuiet,
  picture,
  screenshot,
} from '@agent-exchange/testkit/browser'
import { ANSWER_TASKS } from '../src/answer-tasks.ts'
import { PACKAGE_TEMPLATES } from '../src/conversation-templates.ts'
import { fillDecision, startDeskTrial, type DeskTrial } from './desk-trial.fixture.ts'
import { askForDecision, tellThread } from './told-thread.fixture.ts'

const MAXIMUM_BYTES = 100_000

let trial: DeskTrial
let told: Awaited<ReturnType<typeof tellThread>>
before(async () => {
  trial = await startDeskTrial()
  told = await tellThread(trial.bolt, trial.acme)
})
after(() => trial?.[Symbol.asyncDispose]())

test('the pictures of the manual', async () => {
  await askForDecision(trial.bolt, trial.acme)
  for (const [name, path, side] of [
    ['desk-story', `/threads/${told.threadId}`, 'acme'],
    ['desk-overview', '/', 'acme'],
  ] as const) {
    await using watched = await trial.signedIn(trial[side], path, { viewport: { width: 1_000, height: 760 } })
    await picture(watched.page, name, { height: name === 'desk-overview' ? 620 : 760 })
    assertQuiet(watched)
  }
})

test('a planner accepts an option beside the story, sees the checks while typing, and sends it', async () => {
  const { acme, bolt } = trial
  await using watched = await trial.signedIn(acme, `/threads/${told.threadId}`)
  const { page } = watched
  await page
    .getByRole('row', { name: /Fly in one coil/u })
    .getByRole('link', { name: 'Accept' })
    .click()
  assert.equal(await page.getByLabel('Option that you accept').inputValue(), 'option_air_freight')
  await page.getByLabel('Your answer in a sentence').fill('Please book it today.')
  await page.locator('#compose-result').getByText('passed', { exact: true }).nth(4).waitFor()
  await page.locator('#compose-result').getByText('What the other side will read').waitFor()
  await picture(page, 'desk-answer', { from: '#answer-part', height: 960 })
  await page.getByRole('button', { name: 'Make the draft' }).click()
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('button', { name: 'Seal and send now' }).click()
  await page.getByText('Sent. The exchange accepted').waitFor()
  assertQuiet(watched)

  await using other = await trial.signedIn(bolt, `/threads/${told.threadId}`)
  await other.page.getByRole('button', { name: 'Open and send receipts' }).first().click()
  await other.page.getByText('We accept the option “Fly in one coil').first().waitFor()
})

test('without script a list grows, and the button shows preview and checks', async () => {
  const path = `/packages/${told.offeredId}/answer/options`
  await using watched = await trial.signedIn(trial.acme, path, { javaScriptEnabled: false })
  const { page } = watched
  await page.getByLabel('What is proposed').fill('Move one shift.')
  await page.getByRole('button', { name: 'Add another' }).click()
  await page.getByLabel('What is proposed').nth(1).fill('Borrow a press.')
  await page.getByLabel('Your answer in a sentence').fill('Two more ways.')
  await page.getByRole('button', { name: 'Check' }).click()
  assert.equal(await page.locator('#compose-result').getByText('passed', { exact: true }).count(), 5)
  assert.equal(await page.locator('#compose-result').getByText('Borrow a press.').count(), 1)
  assertQuiet(watched)
})

test('the pages for planners are accessible and small, on a phone, a tablet and a laptop', async () => {
  const { acme } = trial
  const pages = [
    ['story', `/threads/${told.threadId}`],
    ['search', '/search?text=rails'],
    ['new', '/new'],
    [`new-template`, `/new/${PACKAGE_TEMPLATES[0]}`],
    ...ANSWER_TASKS.map((task) => [`answer-${task}`, `/packages/${told.offeredId}/answer/${task}`] as const),
  ] as const
  for (const [name, path] of pages)
    for (const [width, colorScheme] of [
      [360, 'dark'],
      [800, 'light'],
      [1_280, 'light'],
    ] as const) {
      const viewport = { width, height: 900 }
      await using watched = await trial.signedIn(acme, path, { viewport, colorScheme })
      await screenshot(watched.page, `desk-${name}-${width}`)
      const bytes = Buffer.byteLength(await watched.page.content())
      assert.ok(bytes < MAXIMUM_BYTES, `${name}: ${bytes} bytes`)
      await watched.page.evaluate(
        "document.querySelectorAll('main details').forEach((each) => (each.open = true))",
      )
      await assertNoHorizontalScroll(watched.page)
      if (width !== 800) assert.deepEqual(await accessibilityFaults(watched.page), [], `${name} ${width}`)
      assertQuiet(watched)
    }
})
