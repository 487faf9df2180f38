import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import { connectFolder } from '@agent-exchange/sdk/node'
import { cosignedCapsule, startWorld, type World } from '@agent-exchange/testkit'
import { assertQuiet, checkPage, openBrowser, type TestBrowser } from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import { aexHere, succeeds } from '../src/aex-here.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from '../src/commands/agent/agents.fixture.ts'

const folder = temporaryFolder()
const [page, capsule, altered, reversed, policy] = [
  'page.html',
  'capsule.json',
  'altered.json',
  'reversed.json',
  'policy.txt',
].map(folder.path) as [string, string, string, string, string]
const address = pathToFileURL(page).href
let browser: TestBrowser
let world: World

before(async () => {
  const profile = {
    'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
  }
  world = await startWorld({ profile, config: { role: 'all' } })
  const acme = await madeAgent(world, 'acme', folder.path('acme'))
  const bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
  const { threadId, packageId } = await packageBetween(acme, bolt)
  await using recipient = await connectFolder(bolt)
  await recipient.open(packageId)
  const { capsule: collected } = await recipient.capsule({ threadId })
  assert.ok(collected.format === 'aex-evidence/3')
  const { capsule: good, policy: policyText } = await cosignedCapsule(collected)
  writeFileSync(capsule, JSON.stringify(good))
  writeFileSync(altered, JSON.stringify({ ...good, thread_id: 'thread_other' }))
  writeFileSync(reversed, JSON.stringify({ ...good, 'right\u202eleft': 1 }))
  writeFileSync(policy, policyText)
  await succeeds('verify', '--page', page)
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function verdictOf(shown: Page, file: string, policyFile?: string): Promise<string> {
  await shown.getByLabel(/^Capsule/u).setInputFiles(file)
  if (policyFile !== undefined) await shown.getByLabel(/^Policy/u).setInputFiles(policyFile)
  await shown.getByRole('button', { name: 'Verify' }).click()
  await shown.locator('#verdict p').first().waitFor()
  return (await shown.locator('#verdict').textContent()) ?? ''
}

/** The command wraps lines, and the page does not: their words are the same. */
const wordsOf = (text: string | null) => (text ?? '').split(/\s+/u).filter((word) => word !== '')

/** By exit code: a sound capsule without a policy proves less, and nothing speaks against it. */
const TONES = { 0: 'good', 3: 'warn', 1: 'bad', 2: 'bad' } as const

test('[AUD-03] the page verifies a capsule offline, word for word as the command does, and sends nothing', async () => {
  for (const [file, args, code] of [
    [capsule, ['--policy', policy], 0],
    [capsule, [], 3],
    [altered, ['--policy', policy], 1],
    [policy, ['--policy', policy], 2],
  ] as const) {
    await using watched = await browser.open(address, { offline: true })
    const requests: string[] = []
    watched.page.on('request', (request) => requests.push(request.url()))
    const verdict = await verdictOf(watched.page, file, args[1])
    const command = await aexHere('verify', file, ...args)
    assert.equal(command.code, code)
    const printed = wordsOf(command.stdout)
    assert.deepEqual(wordsOf(verdict), printed.slice(0, wordsOf(verdict).length))
    const items = await watched.page.locator('#report > ul > li').allTextContents()
    for (const item of items) assert.ok(printed.join(' ').includes(wordsOf(item).join(' ')), item)
    assert.ok(items.length > 0)
    const tone = await watched.page.locator('#verdict > .notice').getAttribute('class')
    assert.equal(tone, `notice ${TONES[code]}`)
    assert.deepEqual(requests, [])
    assertQuiet(watched)
  }
})

test('[AUD-03] an altered capsule contradicts itself, and one without a policy proves no log', async () => {
  await using watched = await browser.open(address, { offline: true })
  assert.match(await verdictOf(watched.page, altered, policy), /^Broken: this file contradicts itself/u)
  await using second = await browser.open(address, { offline: true })
  assert.match(
    await verdictOf(second.page, capsule),
    /^Consistent, but not proven: .*compare the fingerprints/u,
  )
  await using third = await browser.open(address, { offline: true })
  assert.match(await verdictOf(third.page, policy), /^Unreadable: /u)
})

test('a character that reverses text is shown as its code in the verdict and below', async () => {
  await using watched = await browser.open(address, { offline: true })
  const verdict = await verdictOf(watched.page, reversed, policy)
  const details = (await watched.page.locator('#report').textContent()) ?? ''
  for (const text of [verdict, details]) {
    assert.ok(text.includes('right[U+202E]left'), text)
    assert.ok(!text.includes('\u202e'))
  }
})

test('the copy that the exchange serves says so, and works under its own Content Security Policy', async () => {
  const answer = await fetch(`${world.url}/verify`)
  const policyHeader = answer.headers.get('content-security-policy') ?? ''
  assert.match(policyHeader, /^default-src 'none'; .*script-src 'sha256-/u)
  assert.doesNotMatch(policyHeader, /unsafe|connect-src (?!'none')/u)
  await using watched = await browser.open(`${world.url}/verify`)
  const notice = watched.page.locator('#served')
  assert.ok(await notice.isVisible())
  const { stderr } = await aexHere('verify', '--page', page)
  const [, digest = '?'] = /SHA-256 ([0-9a-f]{64})/u.exec(stderr) ?? []
  assert.ok((await notice.textContent())?.includes(digest))
  assert.match(
    await verdictOf(watched.page, capsule, policy),
    /^Proven: org_acme sent this package to org_bolt/u,
  )
  assertQuiet(watched)
  await using own = await browser.open(address, { offline: true })
  assert.ok(await own.page.locator('#served').isHidden())
})

for (const [name, file, policyFile] of [
  ['verify-page', () => capsule, () => policy],
  ['verify-page-consistent', () => capsule, () => undefined],
] as const)
  test(`${name} is accessible at every width, light and dark`, async () => {
    const prepare = async (shown: Page) => void (await verdictOf(shown, file(), policyFile()))
    await checkPage(browser, { name, address, prepare })
  })

test('the page has the look of the others', async () => {
  const colours = (shown: Page) =>
    shown.evaluate(
      '(({ backgroundColor, color, fontFamily }) => [backgroundColor, color, fontFamily])(getComputedStyle(document.body))',
    )
  await using own = await browser.open(address, { colorScheme: 'dark' })
  await using other = await browser.open(`${world.operatorUrl}/sign-in`, { colorScheme: 'dark' })
  assert.deepEqual(await colours(own.page), await colours(other.page))
})

test('the report of an ordinary capsule prints on one sheet, and so does the page', async () => {
  const report = folder.path('report.html')
  await succeeds('verify', capsule, '--policy', policy, '--html', report)
  await using written = await browser.open(pathToFileURL(report).href, { offline: true })
  assert.equal(await sheetsOf(written.page), 1)
  await using watched = await browser.open(address, { offline: true })
  await verdictOf(watched.page, capsule, policy)
  assert.equal(await sheetsOf(watched.page), 1)
})

async function sheetsOf(shown: Page): Promise<number> {
  const pdf = await shown.pdf({ format: 'A4', preferCSSPageSize: true })
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/gu)?.length ?? 0
}

test('[AUD-01] the report is accessible at every width, light and dark', async () => {
  const report = folder.path('report.html')
  await succeeds('verify', capsule, '--policy', policy, '--html', report)
  await checkPage(browser, { name: 'evidence-report', address: pathToFileURL(report).href })
})
