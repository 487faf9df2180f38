import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { assertQuiet, checkPage, openBrowser, type TestBrowser } from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'

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
