import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setScene, startWorld, type Scene, type World } from '@agent-exchange/testkit'
import {
  accessibilityFaults,
  assertNoHorizontalScroll,
  assertQuiet,
  checkPage,
  openBrowser,
  screenshot,
  type TestBrowser,
} from '@agent-exchange/testkit/browser'

let world: World
let scene: Scene
let browser: TestBrowser
let token: string

before(async () => {
  world = await startWorld()
  scene = await setScene(world)
  const { body } = await world.operate('POST', '/operators', { name: 'alice', role: 'administrator' })
  token = String(body['token'])
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

type Page = Awaited<ReturnType<TestBrowser['open']>>['page']

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

test('change the contact of an organization, suspend and resume it, then end it by its id', async () => {
  const id = 'org_browser_end'
  await world.operate('POST', '/organizations', { organization_id: id, name: 'To be ended' })
  await using watched = await browser.open(`${world.operatorUrl}/organizations/${id}`)
  const { page } = watched
  await signIn(page)
  await page.getByText('Change the contact…').click()
  await page.getByLabel('Contact').fill('duty@ended.example')
  await page.getByRole('button', { name: 'Change contact' }).click()
  await page.getByText('The contact was changed').waitFor()
  await page.getByRole('definition').filter({ hasText: 'duty@ended.example' }).waitFor()
  await page.getByText('Suspend…').click()
  await page.getByRole('textbox', { name: 'Reason', exact: true }).fill('incident 7')
  await page.getByRole('button', { name: 'Suspend organization' }).click()
  await page.getByText('every request of this organization is refused').waitFor()
  await page.getByText('Resume…').click()
  await page.getByRole('button', { name: 'Resume organization' }).click()
  await page.getByText('is active again').waitFor()
  await page.getByRole('link', { name: 'End this organization' }).click()
  await page.getByRole('heading', { name: 'What is kept, and why' }).waitFor()
  await page.getByLabel(`Type ${id} to confirm`).fill(id)
  await page.getByLabel('Reason').fill('contract ended')
  await page.getByRole('button', { name: 'End organization for ever' }).click()
  await page.getByRole('button', { name: 'Continue now' }).click()
  await page.getByText('finished').waitFor()
  assert.equal((await world.operate('GET', `/organizations/${id}`)).body['status'], 'ended')
  assertQuiet(watched)
})

test('a refused form keeps what was typed, and a reload does not send it again', async () => {
  await using watched = await browser.open(`${world.operatorUrl}/organizations/new`)
  const { page } = watched
  await signIn(page)
  await page.getByLabel('Id').fill('Acme')
  await page.getByLabel('Name').fill('Acme & Sons')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByText('Nothing was changed. Please correct the form.').waitFor()
  assert.equal(await page.getByLabel('Id').inputValue(), 'Acme')
  assert.equal(await page.getByLabel('Name').inputValue(), 'Acme & Sons')
  assert.equal(await page.evaluate('document.activeElement.id'), 'organization-organization_id')
  assert.deepEqual(await accessibilityFaults(page), [])
  await screenshot(page, 'console-refused-form')
  assert.equal(new URL(page.url()).pathname, '/organizations/new')
  await page.reload()
  assert.equal(await page.getByLabel('Name').inputValue(), '')
})

test('on a phone each level of the navigation takes one line, and the current place is in view', async () => {
  await using watched = await browser.open(`${world.operatorUrl}/settings`, {
    viewport: { width: 390, height: 844 },
  })
  const { page } = watched
  await signIn(page)
  for (const label of ['Site', 'Section']) {
    const navigation = page.getByRole('navigation', { name: label, exact: true })
    const items = await navigation.getByRole('listitem').all()
    const tops = await Promise.all(items.map(async (item) => (await item.boundingBox())?.y))
    assert.equal(new Set(tops).size, 1, `${label}: ${tops.join()}`)
    const current = await navigation.locator('[aria-current]').boundingBox()
    assert.ok(current && current.x >= 0 && current.x + current.width <= 390, label)
  }
  const signOut = await page.getByRole('button', { name: 'Sign out' }).boundingBox()
  assert.ok(signOut && signOut.y >= 4, 'the button does not touch the edge of the screen')
})

test('a filter shows a whole id, a badge is one line, and a list shortens ids that are copied whole', async () => {
  await using watched = await browser.open(`${world.operatorUrl}/agents`, {
    permissions: ['clipboard-read', 'clipboard-write'],
    viewport: { width: 1_280, height: 900 },
  })
  const { page } = watched
  await signIn(page)
  await page.getByLabel('Organization').fill(`thread_${'0'.repeat(32)}`)
  const fits = 'document.activeElement.scrollWidth <= document.activeElement.clientWidth'
  await page.getByLabel('Organization').focus()
  assert.ok(await page.evaluate(fits))
  const heights = (await page.evaluate(
    "[...document.querySelectorAll('.badge')].map(({ clientHeight }) => clientHeight)",
  )) as number[]
  assert.ok(heights.length > 0 && new Set(heights).size === 1, heights.join())
  const { agentId } = scene.sender
  const link = page.getByRole('link', { name: agentId })
  assert.equal(await link.getAttribute('title'), agentId)
  assert.ok(((await link.boundingBox())?.width ?? 999) < 200)
  const copy = page.getByRole('button', { name: `Copy ${agentId}` })
  const opacity = () =>
    page.evaluate(`getComputedStyle(document.querySelector('[data-copy="${agentId}"]')).opacity`)
  assert.equal(await opacity(), '0')
  await link.hover()
  assert.equal(await opacity(), '1')
  await copy.click()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), agentId)
})

/** Each in every width and both schemes. */
const PAGES: readonly [name: string, path: () => string][] = [
  ['organizations', () => '/organizations'],
  ['organization', () => `/organizations/${scene.sender.organizationId}`],
  ['organization-end', () => `/organizations/${scene.sender.organizationId}/end`],
  ['invitation-new', () => '/invitations/new'],
  ['agent', () => `/agents/${scene.sender.agentId}`],
  ['skills', () => '/skills'],
  ['keys', () => '/keys'],
  ['log', () => '/log'],
]
for (const [name, path] of PAGES)
  test(`${name} is accessible at every width, light and dark, and loads nothing from elsewhere`, async () => {
    const address = world.operatorUrl + path()
    await checkPage(browser, { name: `console-${name}`, address, prepare: signIn })
  })

test('[O-50] accept packages from listed organizations only, and block one', async () => {
  const { sender, recipient } = scene
  await using watched = await browser.open(`${world.operatorUrl}/organizations/${recipient.organizationId}`)
  const { page } = watched
  await signIn(page)
  await page.getByRole('link', { name: 'Anyone who is not blocked' }).click()
  await page.getByLabel('Accept packages from').selectOption('listed')
  await page.getByRole('button', { name: 'Change who may send' }).click()
  await page.getByText('Changed: Accepted organizations only.').waitFor()
  await page.getByLabel('Organization ids').fill(sender.organizationId)
  await page.getByLabel('What to do').selectOption('accept')
  await page.getByRole('button', { name: 'Change the lists' }).click()
  await page.getByText('Changed: 1 accepted and 0 blocked by name.').waitFor()
  await page.getByRole('link', { name: 'Change', exact: true }).click()
  await page.getByLabel('What to do').selectOption('block')
  await page.getByRole('button', { name: 'Change the lists' }).click()
  await page.getByText('Changed: 0 accepted and 1 blocked by name.').waitFor()
  await screenshot(page, 'console-organization-consent')
  assert.deepEqual(await accessibilityFaults(page), [])
  assertQuiet(watched)
  const restored = { accepts_from: 'default', remove: [sender.organizationId] }
  await world.operate('POST', `/organizations/${recipient.organizationId}/consent`, restored)
})

test('the other pages are accessible on a phone', async () => {
  const organization = `/organizations/${scene.sender.organizationId}`
  const viewport = { width: 360, height: 900 }
  await using watched = await browser.open(`${world.operatorUrl}/invitations`, {
    viewport,
    colorScheme: 'dark',
  })
  const { page } = watched
  await signIn(page)
  for (const path of [
    '/invitations',
    '/organizations/new',
    `${organization}/export`,
    `${organization}/consent`,
    `${organization}/clients/${scene.sender.clientId}`,
    `${organization}/add-client`,
    `${organization}/approve-connector`,
    '/agents',
    '/alerts',
    '/backup',
  ]) {
    await page.goto(world.operatorUrl + path)
    await screenshot(page, `console${path.replaceAll('/', '-')}-360-dark`)
    await assertNoHorizontalScroll(page)
    assert.deepEqual(await accessibilityFaults(page), [], path)
  }
  assertQuiet(watched)
})
