import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import {
  assertQuiet,
  checkPage,
  openBrowser,
  screenshot,
  type TestBrowser,
  type WatchedPage,
} from '@agent-exchange/testkit/browser'

let world: World
let browser: TestBrowser
const tokens: Record<string, string> = {}

before(async () => {
  world = await startWorld({ config: { role: 'all' } })
  for (const role of ['viewer', 'operator', 'administrator']) {
    const { body } = await world.operate('POST', '/operators', { name: `${role}-one`, role })
    tokens[role] = String(body['token'])
  }
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

type Page = WatchedPage['page']

const signIn = (role: string) => async (page: Page) => {
  await page.getByLabel('Operator token').fill(tokens[role] ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

test('the sign-in page is accessible', async () => {
  await checkPage(browser, { name: 'console-sign-in', address: `${world.operatorUrl}/sign-in` })
})

for (const [name, path] of [
  ['overview', '/'],
  ['operators', '/operators'],
  ['operator', '/operators/viewer-one'],
  ['sessions', '/sessions'],
  ['operator-log', '/operator-log'],
  ['open-points', '/open-points'],
  ['open-point', '/open-points/O-15'],
  ['settings', '/settings'],
] as const)
  test(`${path} is accessible at every width, light and dark`, async () => {
    await checkPage(browser, {
      name: `console-${name}`,
      address: world.operatorUrl + path,
      prepare: async (page) => {
        await signIn('administrator')(page)
        await page.locator('h1').waitFor()
      },
    })
  })

test('an administrator creates a viewer, who can read and not change', async () => {
  await using watched = await browser.open(`${world.operatorUrl}/operators`)
  const { page } = watched
  await signIn('administrator')(page)
  assert.equal(new URL(page.url()).pathname, '/operators')
  await page.getByLabel('Name').fill('grace')
  await page.getByLabel('Role').selectOption('viewer')
  await page.getByRole('button', { name: 'Create operator' }).click()
  await page.getByRole('heading', { name: 'Operator grace created' }).waitFor()
  const token = await page.locator('dd code').innerText()
  assert.match(token, /^aexop_[\w-]{43}$/u)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Operator token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Access' }).click()
  await page.getByRole('link', { name: 'grace' }).click()
  await page.getByRole('heading', { name: 'Operator grace' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Disable operator' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Sessions' }).count(), 0)
  assertQuiet(watched)
  // Loaded by hand, without a link to it.
  const refused = await page.goto(`${world.operatorUrl}/sessions`)
  assert.equal(refused?.status(), 403)
  assert.match(await page.locator('main').innerText(), /needs the role administrator; yours is viewer/u)
})

test('a wrong token is said on the sign-in page, which keeps the place to go next', async () => {
  await using watched = await browser.open(`${world.operatorUrl}/keys`)
  const { page } = watched
  await page.getByLabel('Operator token').fill('aexop_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This token is not valid.').waitFor()
  await signIn('viewer')(page)
  assert.equal(new URL(page.url()).pathname, '/keys')
  assertQuiet(watched)
})

test('no address of the sign-in page leads a browser to another site', async () => {
  const foreign: string[] = []
  await using elsewhere = createServer(({ url }, response) => {
    foreign.push(url ?? '')
    response.end('elsewhere')
  })
  elsewhere.listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  for (const next of [`/..//${host}/`, `/.//${host}/`, `/a/..//${host}/`, `/%2e%2e//${host}/`]) {
    await using watched = await browser.open(`${world.operatorUrl}/sign-in?next=${next}`)
    const { page } = watched
    await signIn('viewer')(page)
    assert.equal(page.url(), `${world.operatorUrl}/`, next)
    // Already signed in, the page redirects by itself.
    await page.goto(`${world.operatorUrl}/sign-in?next=${next}`)
    assert.equal(page.url(), `${world.operatorUrl}/`, next)
  }
  assert.deepEqual(foreign, [])
})

test('the overview shows trouble without a reload, and what mends it', async () => {
  await using watched = await browser.open(world.operatorUrl)
  const { page } = watched
  await signIn('viewer')(page)
  await page.getByText('Healthy.').waitFor()
  await page.getByRole('heading', { name: 'Create your first organization' }).waitFor()
  const owner = await world.organization('owner')
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  assert.equal(await page.getByText('Create your first organization').count(), 0)
  const endpoint = await owner.post('/v1/webhook-endpoints', {
    url: 'https://receiver.example/hook',
    event_types: [],
  })
  const id = String(endpoint.body['webhook_endpoint_id'])
  await world.operate('POST', `/endpoints/${id}/disable`, { reason: '<b>broken</b>' })
  const link = page.getByRole('link', {
    name: 'The webhook endpoint of owner is disabled: operator: <b>broken</b>.',
  })
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), `/endpoints/${id}`)
  await screenshot(page, 'console-overview-trouble')
  await world.operate('POST', `/endpoints/${id}/delete`, { reason: 'mended' })
  await page.getByText('Healthy.').waitFor()
  assertQuiet(watched)
})

test('the overview is read without script, and pages stay below 100 KB', async () => {
  await using watched = await browser.open(`${world.operatorUrl}/?period=day`, { javaScriptEnabled: false })
  const { page } = watched
  await signIn('viewer')(page)
  await page.getByText('Last 24 hours').waitFor()
  assert.equal(await page.locator('figure.plot').count(), 4)
  for (const path of ['/', '/?period=day', '/operator-log', '/open-points', '/open-points/O-14']) {
    const response = await page.goto(world.operatorUrl + path)
    const size = (await response?.body())?.byteLength ?? 0
    assert.ok(size > 0 && size < 100_000, `${path} has ${size} bytes`)
  }
})
