import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { assertQuiet, checkPage, openBrowser, type TestBrowser } from '@agent-exchange/testkit/browser'
import { readWebAssets } from '@agent-exchange/web'
import { temporaryFolder } from '../../packages/cli/src/commands/agent/agents.fixture.ts'
import { reportPage, type Outcome } from '../report.ts'
import { createTimeline } from '../timeline.ts'

const folder = temporaryFolder()
const file = folder.path('demo.html')
let browser: TestBrowser

const LONG = 'x'.repeat(300)
const OUTCOME: Outcome = {
  transport: 'native',
  story: 'Demand change: comfort seat',
  counts: [{ what: 'packages', count: 6 }],
  seen: { plaintext: `{ "summary": "<b>Rails</b> ${LONG}" }`, stored: `eyJ${LONG}` },
  evidence: {
    word: 'broken',
    outcome: 'contradiction',
    exitCode: 1,
    level: undefined,
    required: 'unpinned',
    isStrict: false,
    version: 3,
    threadId: 'thread_1',
    contradictions: [{ code: 'metadata_digest', result: 'fails', package_id: 'pkg_2' }],
    checks: [
      { code: 'key_usable', result: 'holds' },
      { code: 'receipt_signature', result: 'holds', package_id: 'pkg_1', values: { state: LONG } },
      { code: 'metadata_digest', result: 'fails', package_id: 'pkg_2' },
      { code: 'truth', result: 'unproved' },
    ],
    exchangeClaims: [{ code: 'recording', value: LONG }],
    states: [],
    packages: [],
    shownKeyEvents: [],
    fingerprints: [],
    keys: [],
    checkpoint: undefined,
  },
  search: 'None of the plaintext is in 3 files.',
}

before(async () => {
  const timeline = createTimeline({ now: () => 0, print: () => undefined, colour: false })
  timeline.chapter('Shared')
  timeline.say({ who: 'manufacturer', said: `Demand rises. ${LONG}`, seen: LONG })
  timeline.add({ who: 'manufacturer', to: 'exchange', kind: 'package', what: 'hands it in', detail: LONG })
  writeFileSync(file, reportPage(timeline, OUTCOME))
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test('the report of the demo has the look of the other pages, fits a window of 400 pixels, and is accessible', async () => {
  assert.ok(readFileSync(file, 'utf8').includes(readWebAssets().style.body))
  await using watched = await browser.open(pathToFileURL(file).href, { offline: true })
  const text = (await watched.page.locator('main').innerText()).replaceAll(/\s+/gu, ' ')
  assert.ok(text.indexOf('As the exchange holds it') < text.indexOf('What went where'))
  // The group with a failure is open, the others are closed.
  const open = await watched.page.locator('details[open] > summary').allTextContents()
  assert.deepEqual(
    open.map((summary) => summary.trim().replaceAll(/\s+/gu, ' ')),
    ['Package pkg_2 1 of 1 fail'],
  )
  assertQuiet(watched)
  await checkPage(browser, { name: 'demo-report', address: pathToFileURL(file).href })
})
