import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { deliveryWorld, type DeliveryWorld } from '@agent-exchange/testkit'
import {
  accessibilityFaults,
  assertQuiet,
  openBrowser,
  screenshot,
  type TestBrowser,
  type WatchedPage,
} from '@agent-exchange/testkit/browser'

type Page = WatchedPage['page']

const AEX = fileURLToPath(new URL('../../cli/bin/aex.js', import.meta.url))

let setting: DeliveryWorld
let browser: TestBrowser
let token: string
let folder: string

before(async () => {
  setting = await deliveryWorld()
  const { body } = await setting.world.operate('POST', '/operators', { name: 'alice', role: 'administrator' })
  token = String(body['token'])
  folder = mkdtempSync(join(tmpdir(), 'aex-console-story-'))
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await setting?.[Symbol.asyncDispose]()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** The command of an agent's developer, with files in the folder of the test. */
async function aex(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [AEX, ...args], { cwd: folder })
  return stdout.trim()
}

/** From nothing to a registered agent: the operator clicks, the developer runs one command. */
async function createAndJoin(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Organizations', exact: true }).first().click()
  await page.getByRole('link', { name: 'Create an organization' }).click()
  await page.getByLabel('Id').fill(`org_${name}`)
  await page.getByLabel('Name').fill(`${name} GmbH`)
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByText(`org_${name} was created.`).waitFor()
  await page.getByText('No agents yet').waitFor()
  await page.getByRole('link', { name: 'Invite an agent' }).click()
  await page.getByLabel('Agent', { exact: false }).first().fill(`agent_${name}`)
  await page.getByRole('button', { name: 'Create invitation' }).click()
  const command = await page.locator('pre').innerText()
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshot(page, 'console-invitation-created')
  const [, invitation = ''] = /^npx aex agent join (aexinv_\S+)$/u.exec(command.trim()) ?? []
  assert.match(
    await aex('agent', 'join', invitation, '--dir', name),
    new RegExp(`agent_${name} of org_${name} has joined`, 'u'),
  )
  await page.getByRole('link', { name: 'See when it was used' }).click()
  await page.getByText('Joined as').waitFor()
  await page.getByRole('link', { name: `${name} GmbH` }).click()
  await page
    .getByRole('link', { name: `agent_${name}` })
    .first()
    .click()
  await page.getByRole('heading', { name: 'History of the keys' }).waitFor()
  assert.equal(await page.getByRole('cell', { name: 'registered' }).count(), 2)
}

/** The buyer wants its events at the receiver of the test. */
async function registerEndpoint(): Promise<void> {
  const response = await fetch(`${setting.world.url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await aex('agent', 'token', '--dir', 'buyer')}`,
      'content-type': 'application/json',
      'idempotency-key': 'story-endpoint',
      'x-correlation-id': 'story',
    },
    body: JSON.stringify({ url: setting.receiver.url, event_types: ['package.accepted'] }),
  })
  assert.equal(response.status, 201, await response.text())
}

/** Writes an object of the seller for the buyer. */
async function writeDraft(type: string, out: string): Promise<void> {
  const about = ['--dir', 'seller', '--to', 'org_buyer', '--policy-id', 'pol_story']
  await aex('new', type, ...about, '--out', out)
}

async function send(): Promise<string> {
  const [object, policy] = [`object-${performance.now()}.json`, 'policy.json']
  await writeDraft('reasoning_package', object)
  const sent = await aex(
    'agent',
    'send',
    object,
    '--dir',
    'seller',
    '--policy',
    policy,
    '--to',
    'agent_buyer',
    '--json',
  )
  return (JSON.parse(sent) as { package_id: string }).package_id
}

/** Proof that a page was updated and not loaded again. */
const mark = (page: Page) => page.evaluate("document.body.dataset.loaded = 'once'")
const isMarked = async (page: Page) => (await page.evaluate('document.body.dataset.loaded')) === 'once'

test('[EVT-12] invite, join, send, see the timeline, break the receiver, see why, mend, replay, see it delivered', async () => {
  const { world, receiver } = setting
  await using watched = await browser.open(world.operatorUrl)
  const { page } = watched
  await page.getByLabel('Operator token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await createAndJoin(page, 'seller')
  await createAndJoin(page, 'buyer')
  await registerEndpoint()
  await writeDraft('policy_envelope', 'policy.json')

  // The list shows a package that is sent while it is open.
  await page.getByRole('link', { name: 'Traffic' }).click()
  await page.getByRole('link', { name: 'Packages', exact: true }).click()
  await page.getByText('No packages').waitFor()
  await mark(page)
  const first = await send()
  await page.getByRole('link', { name: first }).waitFor()
  assert.ok(await isMarked(page))
  await page.getByRole('link', { name: first }).click()
  await page.getByText('Package accepted', { exact: true }).waitFor()
  await page.getByText('Event package.accepted: delivered by webhook').waitFor()

  // A thread is updated, and what was opened stays open.
  await page
    .getByRole('link', { name: /^thread_/u })
    .first()
    .click()
  const step = page.locator('.steps > li', { hasText: 'Package accepted' }).first()
  await step.locator('summary').first().click()
  await step.getByText('policy receipt id').waitFor()
  await step.locator('summary').first().blur()
  await mark(page)
  await aex('agent', 'open', first, '--dir', 'buyer', '--out', 'opened.json')
  await page.getByText('Receipt: opened').waitFor()
  assert.ok(await step.getByText('policy receipt id').isVisible())
  assert.ok(await isMarked(page))

  // The receiver breaks. The failure appears in the open list, and its page says why.
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
  await mark(page)
  receiver.reply = () => 403
  const broken = await send()
  const failed = page.getByRole('row', { name: /failed/u })
  await failed.waitFor()
  assert.ok(await isMarked(page))
  await screenshot(page, 'console-deliveries-live')
  await failed.getByRole('link', { name: /^dlv_/u }).click()
  await page.getByText('Failed for good after 1 attempt; the last result: status 403.').waitFor()
  await page.getByText('Compare the signature base below').waitFor()
  await page.getByText('Attempt 1: connection, signature base').click()
  await page.getByLabel('Signature base of attempt 1').getByText('"@method": POST').waitFor()

  // Mended, replayed, delivered; the page of the replay shows its result by itself.
  receiver.reply = () => 204
  await page.getByLabel('Reason').fill('key of the receiver renewed')
  await page.getByRole('button', { name: 'Replay this delivery' }).click()
  await page.getByText('Replayed.').waitFor()
  await page.getByText('Delivered by attempt 1.').waitFor()
  await page.getByRole('link', { name: broken }).first().click()
  await page.getByText('Webhook attempt 1 of a replay: status 204').waitFor()
  assertQuiet(watched)
})
