import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import {
  accessibilityFaults,
  assertQuiet,
  checkPage,
  openBrowser,
  type TestBrowser,
} from '@agent-exchange/testkit/browser'
import Fastify, { type FastifyInstance } from 'fastify'
import { registerPages } from '../src/http/pages/register-pages.ts'

let app: FastifyInstance
let origin: string
let browser: TestBrowser

before(async () => {
  const result = createProfile({ 'O-15': { maximum_limit: 321 } })
  assert.ok(result.ok)
  app = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  const publicUrl = 'https://exchange.example'
  registerPages(app, { publicUrl, profile: result.profile, tokenUrl: `${publicUrl}/oauth/token` })
  // An answer of the API, for the form that tries an operation.
  app.get('/v1/agents/:id', (request, reply) =>
    reply.code(404).send({ code: 'resource_not_found', authorization: request.headers.authorization }),
  )
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await app?.close()
})

for (const [name, path] of [
  ['start', '/'],
  ['problems', '/problems/'],
  ['problem', '/problems/package-revoked'],
  ['schemas', '/schemas/'],
] as const)
  test(`${path} is accessible at every width, light and dark, and loads nothing from elsewhere`, async () => {
    await checkPage(browser, { name: `public-${name}`, address: origin + path })
  })

test('the reference is accessible with an operation opened', async () => {
  await checkPage(browser, {
    name: 'reference',
    address: `${origin}/docs#getAgent`,
    prepare: async (page) => {
      await page.locator('#getAgent[open]').waitFor()
    },
  })
})

test('the reference finds, opens and tries an operation with a token that stays in the page', async () => {
  await using watched = await browser.open(`${origin}/docs`)
  const { page } = watched
  await page.locator('.operation').first().waitFor()
  assert.match(await page.locator('h1').innerText(), /^Agent Exchange/u)
  await page.keyboard.press('/')
  await page.keyboard.type('getAgent')
  assert.match(await page.locator('#found').innerText(), /^\d+ operations?$/u)
  await page.locator('#contents').getByRole('link', { name: 'getAgent', exact: true }).click()
  const operation = page.locator('#getAgent')
  await page.locator('#token').fill('secret-token')
  await operation.getByLabel('agent_id').fill('agent_x')
  assert.match(await operation.locator('pre').first().innerText(), /curl -X GET/u)
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.getByText('404 Not Found').waitFor()
  assert.match(await operation.getByLabel('Body of the answer').innerText(), /Bearer secret-token/u)
  const stored = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
  assert.doesNotMatch(stored, /secret/u)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.locator('#forget').click()
  assert.equal(await page.locator('#token').inputValue(), '')
  // The 404 is the answer that was asked for.
  assertQuiet({ ...watched, faults: watched.faults.filter((fault) => !fault.includes('404')) })
})
