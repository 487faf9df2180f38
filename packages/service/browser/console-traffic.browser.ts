import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  deliveryWorld,
  draftPackage,
  sendPackage,
  sendReceipt,
  submit,
  type DeliveryWorld,
  type PackageDraft,
} from '@agent-exchange/testkit'
import {
  accessibilityFaults,
  assertNoHorizontalScroll,
  assertQuiet,
  checkPage,
  openBrowser,
  screenshot,
  type TestBrowser,
  type WatchedPage,
} from '@agent-exchange/testkit/browser'

type Page = WatchedPage['page']

const CANARY = 'CANARY-plaintext-of-a-package'
const MARKUP = '<img/src=x/onerror=document.title="stolen">'

let setting: DeliveryWorld
let browser: TestBrowser
let token: string
let endpointId: string
/** A package that went through, with a failed delivery that was replayed. */
let story: { draft: PackageDraft; deliveryId: string }

before(async () => {
  setting = await deliveryWorld()
  browser = await openBrowser()
  const { world, receiver, sender, owner } = setting
  const { body } = await world.operate('POST', '/operators', { name: 'nightshift', role: 'operator' })
  token = String(body['token'])
  endpointId = await setting.endpoint()
  receiver.reply = () => 500
  const draft = await draftPackage(sender, owner, { plaintext: Buffer.from(CANARY) })
  await submit(sender, draft, { correlationId: MARKUP })
  await setting.until((all) => all.some(({ attempts }) => attempts.length > 0), 'tried')
  receiver.reply = () => 400
  await sendPackage(sender, owner, { threadId: draft.metadata.thread_id })
  const all = await setting.until((each) => each.some(({ state }) => state === 'failed'), 'failed')
  const deliveryId = all.find(({ state }) => state === 'failed')?.delivery_id ?? ''
  receiver.reply = () => 204
  await world.operate('POST', `/deliveries/${deliveryId}/replay`, { reason: 'receiver mended' })
  await setting.until((each) => each.some(({ state }) => state === 'delivered'), 'delivered')
  await owner.get(`/content/packages/${draft.metadata.package_id}`)
  for (const state of ['received', 'opened']) await sendReceipt(owner, draft.metadata, state)
  story = { draft, deliveryId }
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await setting?.[Symbol.asyncDispose]()
})

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Operator token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

async function openDetails(page: Page): Promise<void> {
  for (const details of await page.locator('main details').all()) await details.locator('summary').click()
}

/** With views of their own; a run at every width takes long, so those that look alike have one. */
const PAGES: Readonly<Record<string, () => string>> = {
  'console-packages': () => '/packages',
  'console-thread': () => `/threads/${story.draft.metadata.thread_id}`,
  'console-delivery': () => `/deliveries/${story.deliveryId}`,
  'console-endpoint': () => `/endpoints/${endpointId}`,
}

for (const [name, path] of Object.entries(PAGES))
  test(`${name} is accessible at every width, light and dark, and shows no plaintext`, async () => {
    await checkPage(browser, {
      name,
      address: setting.world.operatorUrl + path(),
      prepare: async (page) => {
        await signIn(page)
        assert.doesNotMatch(await page.content(), /CANARY/u)
        assert.doesNotMatch(await page.title(), /stolen/u)
      },
    })
  })

test('the other pages, and opened facts, are accessible on a narrow screen', async () => {
  for (const [name, path] of [
    ['console-search', '/search?id=pkg_none'],
    ['console-deliveries', '/deliveries'],
    ['console-replay', '/replay'],
    ['console-endpoints', '/endpoints'],
    ['console-package-open', `/packages/${story.draft.metadata.package_id}`],
    ['console-delivery-open', `/deliveries/${story.deliveryId}`],
    ['console-endpoint-open', `/endpoints/${endpointId}`],
  ] as const) {
    const viewport = { width: 360, height: 900 }
    await using watched = await browser.open(setting.world.operatorUrl + path, { viewport })
    await signIn(watched.page)
    assert.doesNotMatch(await watched.page.content(), /CANARY/u)
    await openDetails(watched.page)
    await screenshot(watched.page, name)
    await assertNoHorizontalScroll(watched.page)
    assert.deepEqual(await accessibilityFaults(watched.page), [])
    assertQuiet(watched)
  }
})

test('reading works without JavaScript, and by keyboard', async () => {
  const { world } = setting
  await using watched = await browser.open(`${world.operatorUrl}/packages`, { javaScriptEnabled: false })
  const { page } = watched
  await signIn(page)
  await page.getByRole('link', { name: story.draft.metadata.package_id }).click()
  const step = page.locator('.steps > li', { hasText: 'Package accepted' })
  await step.locator('summary').first().focus()
  await page.keyboard.press('Enter')
  await step.getByText('policy receipt id').waitFor()
  await page.getByText('Receipt: opened').waitFor()
})
