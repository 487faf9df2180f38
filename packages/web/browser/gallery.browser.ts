import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import {
  assertNoHorizontalScroll,
  assertQuiet,
  checkPage,
  openBrowser,
  type TestBrowser,
} from '@agent-exchange/testkit/browser'
import { until } from '@agent-exchange/testkit/until'
import { startGallery, type Gallery } from '../gallery/gallery-server.ts'
import { HOSTILE } from '../gallery/samples.ts'

let gallery: Gallery
let browser: TestBrowser

before(async () => {
  gallery = await startGallery()
  browser = await openBrowser()
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await gallery?.[Symbol.asyncDispose]()
})

test('every component is accessible at every width, light and dark, without a request elsewhere', async () => {
  await checkPage(browser, { name: 'gallery', address: gallery.address })
})

test('an opened confirmation and a refused form are accessible', async () => {
  await checkPage(browser, {
    name: 'gallery-open',
    address: `${gallery.address}?error`,
    prepare: async (page) => {
      for (const summary of await page.locator('summary').all()) await summary.click()
    },
  })
})

test('hostile strings are text: nothing runs, nothing is added to the page', async () => {
  await using watched = await browser.open(gallery.address)
  const { page } = watched
  await page.locator('text=link 1').first().hover()
  assert.equal(await page.title(), 'Component gallery · Agent Exchange')
  assert.deepEqual(await page.locator('h1').allTextContents(), ['Component gallery'])
  assert.equal(await page.locator('img[src="x"], main script, [onerror], [onmouseover]').count(), 0)
  const cells = await page.getByRole('table', { name: 'As text, id' }).locator('tbody th').allInnerTexts()
  assert.deepEqual(
    cells.map((text) => text.trim()),
    HOSTILE.map((text) => text.trim()),
  )
  const links = await page
    .getByRole('link', { name: /^link \d$/u })
    .evaluateAll((found) => found.map((link) => link.getAttribute('href')))
  assert.equal(links[7], '#blocked-address')
  assert.ok(await page.getByText('\\u{202e}gnp.exe').first().isVisible())
  assertQuiet(watched)
})

test('pages read the same without script, and what needs it is not there', async () => {
  await using watched = await browser.open(gallery.address, {
    javaScriptEnabled: false,
    viewport: { width: 360, height: 800 },
  })
  const { page } = watched
  assert.equal(await page.locator('button[data-copy]:visible').count(), 0)
  await page.getByText('Suspend organization…').click()
  assert.ok(await page.getByRole('button', { name: 'Suspend now' }).isVisible())
  await page.locator('#organization').getByLabel('Name').fill('taken')
  await page.locator('#organization').getByLabel('Reason').fill('a test')
  await page.getByRole('button', { name: 'Create organization' }).click()
  assert.ok(await page.getByText('Another organization has this name.').isVisible())
  await page.locator('#organization').getByLabel('Name').fill('free')
  await page.locator('#organization').getByLabel('Reason').fill('a test')
  await page.getByRole('button', { name: 'Create organization' }).click()
  assert.ok(await page.getByText('The organization was created.').isVisible())
})

test('the theme switch overrides the system, and is remembered', async () => {
  await using watched = await browser.open(gallery.address, { colorScheme: 'light' })
  const { page } = watched
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const light = await ground()
  await page.getByText('Dark', { exact: true }).click()
  const dark = await ground()
  assert.notEqual(dark, light)
  await page.reload()
  assert.equal(await ground(), dark)
  assert.ok(await page.getByLabel('Dark').isChecked())
  await page.getByText('Auto', { exact: true }).click()
  assert.equal(await ground(), light)
})

test('an id is copied as it is, invisible characters included', async () => {
  await using watched = await browser.open(gallery.address, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page } = watched
  const hostile = HOSTILE[4]
  await page
    .getByRole('table', { name: 'As text, id' })
    .getByRole('button', { name: /202e/u })
    .first()
    .click()
  assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), hostile)
  assertQuiet(watched)
})

test('a live region follows the server without a reload of the page', async () => {
  await using watched = await browser.open(gallery.address)
  const { page } = watched
  const first = Number(await page.locator('#ticks').textContent())
  const count = async () => Number(await page.locator('#ticks').textContent())
  await until('the region changes', async () => (await count()) > first)
  assertQuiet(watched)
})

test('a keyboard reaches the content first, and every control shows where it is', async () => {
  await using watched = await browser.open(gallery.address)
  const { page } = watched
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate<string>('document.activeElement.textContent'), 'Skip to the content')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate<string>('document.activeElement.id'), 'main')
  await page.keyboard.press('Tab')
  assert.match(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle'), /solid/u)
})

test('text at twice its size still fits a phone', async () => {
  await using watched = await browser.open(gallery.address, { viewport: { width: 360, height: 800 } })
  await watched.page.evaluate("document.documentElement.style.fontSize = '200%'")
  await assertNoHorizontalScroll(watched.page)
})

test('another site can neither post, nor frame, nor load the page', async () => {
  const attack = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<iframe src="${gallery.address}"></iframe><img id="loaded" src="${gallery.address}">
      <form method="post" action="${gallery.address}organizations"><input name="name" value="free"><button>Win</button></form>`)
  })
  await new Promise<void>((done) => void attack.listen(0, '127.0.0.1', done))
  try {
    const { port } = attack.address() as { port: number }
    await using watched = await browser.open(`http://127.0.0.1:${port}/`)
    const { page } = watched
    const frame = page.frames().find((candidate) => candidate.parentFrame() !== null)
    assert.doesNotMatch((await frame?.content()) ?? '', /Component gallery/u)
    await page.getByRole('button', { name: 'Win' }).click()
    assert.match((await page.textContent('body')) ?? '', /^refused: origin_not_allowed/u)
  } finally {
    attack.closeAllConnections()
    attack.close()
  }
})
