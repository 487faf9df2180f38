import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import { readEvidence } from '@agent-exchange/sdk'
import { connectFolder } from '@agent-exchange/sdk/node'
import { capsuleOf, POLICY, startWorld, type World } from '@agent-exchange/testkit'
import { assertQuiet, checkPage, openBrowser, type TestBrowser } from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import { aexHere, succeeds } from '../src/aex-here.fixture.ts'
import { disowned } from '../src/verify/disowned-keys.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from '../src/commands/agent/agents.fixture.ts'

const folder = temporaryFolder()
const [page, capsule, altered, doubtful, reversed, policy] = [
  'page.html',
  'capsule.json',
  'altered.json',
  'doubtful.json',
  'reversed.json',
  'policy.txt',
].map(folder.path) as [string, string, string, string, string, string]
const address = pathToFileURL(page).href
let browser: TestBrowser
let world: World

before(async () => {
  world = await startWorld({ evidenceVersion: 1 })
  const acme = await madeAgent(world, 'acme', folder.path('acme'))
  const bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
  const { threadId } = await packageBetween(acme, bolt)
  await using recipient = await connectFolder(bolt)
  const evidence = await readEvidence(recipient.context, { threadId })
  const good = await capsuleOf(evidence, { cosigners: 2, earlierSize: 5 })
  writeFileSync(capsule, JSON.stringify(good))
  writeFileSync(altered, JSON.stringify({ ...good, thread_id: 'thread_other' }))
  writeFileSync(doubtful, JSON.stringify(await capsuleOf(disowned(evidence), { cosigners: 2 })))
  writeFileSync(reversed, JSON.stringify({ ...good, 'right\u202eleft': 1 }))
  writeFileSync(policy, POLICY)
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
    assert.deepEqual(wordsOf(await watched.page.locator('#details').textContent()), printed)
    const [sentence, scope] = await watched.page.locator('#verdict p').allTextContents()
    assert.equal(verdict, `${sentence}${scope ?? ''}`)
    const shown = wordsOf(`${sentence} ${scope ?? ''}`)
    assert.deepEqual(shown, printed.slice(0, shown.length))
    const tone = await watched.page.locator('#verdict > .notice').getAttribute('class')
    assert.equal(tone, `notice ${TONES[code]}`)
    assert.equal(scope !== undefined, code === 0 || code === 3)
    assert.deepEqual(requests, [])
    assertQuiet(watched)
  }
})

test('[AUD-03] an altered capsule contradicts itself, and one without a policy proves no log', async () => {
  await using watched = await browser.open(address, { offline: true })
  assert.match(await verdictOf(watched.page, altered, policy), /^This capsule contradicts itself/u)
  await using second = await browser.open(address, { offline: true })
  assert.match(await verdictOf(second.page, capsule), /proves nothing about a log that the verifier knows/u)
  await using third = await browser.open(address, { offline: true })
  assert.match(await verdictOf(third.page, policy), /^This file is not a capsule/u)
})

test('[ID-05] a strict verification does not accept a doubt', async () => {
  for (const isStrict of [false, true]) {
    await using watched = await browser.open(address, { offline: true })
    if (isStrict) await watched.page.getByLabel(/^Strict/u).check()
    assert.match(await verdictOf(watched.page, doubtful, policy), /a person should look at “/u)
    assert.equal(await watched.page.locator('#verdict .warn').count(), isStrict ? 1 : 0)
  }
})

test('a character that reverses text is shown as its code in the verdict and below', async () => {
  await using watched = await browser.open(address, { offline: true })
  const verdict = await verdictOf(watched.page, reversed, policy)
  const details = (await watched.page.locator('#details').textContent()) ?? ''
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
  assert.match(await verdictOf(watched.page, capsule, policy), /^This capsule proves that all \d+ recorded/u)
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
