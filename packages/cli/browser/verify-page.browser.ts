import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import { connectFolder } from '@agent-exchange/sdk/node'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { assertQuiet, checkPage, openBrowser, type TestBrowser } from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import { succeeds } from '../src/aex-here.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from '../src/commands/agent/agents.fixture.ts'

const folder = temporaryFolder()
const [page, capsule, altered, policy] = ['page.html', 'capsule.json', 'altered.json', 'policy.txt'].map(
  folder.path,
) as [string, string, string, string]
const address = pathToFileURL(page).href
let browser: TestBrowser

before(async () => {
  await using world = await startWorld()
  const acme = await madeAgent(world, 'acme', folder.path('acme'))
  const bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
  const { threadId } = await packageBetween(acme, bolt)
  await using recipient = await connectFolder(bolt)
  const evidence = await recipient.evidence({ threadId })
  const good = await capsuleOf(evidence, { cosigners: 2 })
  writeFileSync(capsule, JSON.stringify(good))
  writeFileSync(altered, JSON.stringify({ ...good, thread_id: 'thread_other' }))
  writeFileSync(policy, POLICY)
  await succeeds('verify', '--page', page)
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function verdictOf(shown: Page, file: string, policyFile?: string): Promise<string> {
  await shown.getByLabel(/^Capsule/u).setInputFiles(file)
  if (policyFile !== undefined) await shown.getByLabel(/^Policy/u).setInputFiles(policyFile)
  await shown.getByRole('button', { name: 'Verify' }).click()
  await shown.locator('#verdict p').waitFor()
  return (await shown.locator('#verdict').textContent()) ?? ''
}

test('[AUD-03] the page verifies a capsule offline, as the command does, and sends nothing', async () => {
  await using watched = await browser.open(address, { offline: true })
  const requests: string[] = []
  watched.page.on('request', (request) => requests.push(request.url()))
  assert.match(await verdictOf(watched.page, capsule, policy), /^This capsule proves that all \d+ recorded/u)
  assert.match((await watched.page.locator('#details').textContent()) ?? '', /Level: witnessed/u)
  assert.deepEqual(requests, [])
  assertQuiet(watched)
})

test('[AUD-03] an altered capsule contradicts itself, and one without a policy proves no log', async () => {
  await using watched = await browser.open(address, { offline: true })
  assert.match(await verdictOf(watched.page, altered, policy), /^This capsule contradicts itself/u)
  await using second = await browser.open(address, { offline: true })
  assert.match(await verdictOf(second.page, capsule), /proves nothing about a log that the verifier knows/u)
  await using third = await browser.open(address, { offline: true })
  assert.match(await verdictOf(third.page, policy), /^This file is not a capsule/u)
})

test('the page is accessible at every width, light and dark', async () => {
  const prepare = async (shown: Page) => void (await verdictOf(shown, capsule, policy))
  await checkPage(browser, { name: 'verify-page', address, prepare })
})
