import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { html } from '../template/html.ts'
import { page, type Site } from './page.ts'
import { standalonePage } from './standalone-page.ts'
import { readWebAssets } from './web-assets.ts'

const assets = readWebAssets()
const site: Site = {
  name: 'Agent Exchange',
  language: 'en',
  home: './',
  assetFolder: './assets/',
  assets,
  navigation: [
    { href: './', text: 'Start' },
    { href: './packages', text: 'Packages', isCurrent: true },
  ],
}
const made = String(
  page(site, { title: 'A <title>', main: html`<p>Text</p>`, flash: [{ tone: 'good', title: 'Done' }] }),
)

test('a page names its language, its title and where the reader is, and can be skipped into', () => {
  assert.match(made, /^<!doctype html>\s*<html lang="en">/u)
  assert.match(made, /<title>A &lt;title&gt; · Agent Exchange<\/title>/u)
  assert.match(made, /<h1>A &lt;title&gt;<\/h1>/u)
  assert.match(made, /<a href="\.\/packages" aria-current="page">Packages<\/a>/u)
  assert.equal(made.match(/aria-current/gu)?.length, 1)
  assert.match(made, /<body>\s*<a class="skip" href="#main">/u)
  assert.match(made, /<main id="main"[^>]*>\s*<div class="notice good" role="status">/u)
})

test('a page has neither inline script nor inline style', () => {
  assert.doesNotMatch(made, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/u)
})

test('files are named by their content, kept for good, and small', () => {
  for (const { name, body, cacheControl } of Object.values(assets)) {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    assert.ok(name.includes(`-${hash}.`), name)
    assert.ok(made.includes(`"./assets/${name}"`), name)
    assert.match(cacheControl, /immutable/u)
  }
  assert.ok(Buffer.byteLength(assets.style.body) < 20_000)
  assert.ok(Buffer.byteLength(assets.script.body) < 5_500)
  assert.doesNotMatch(assets.style.body, /url\(|@import|https?:/u)
  assert.doesNotMatch(assets.script.body, /innerHTML|\beval\b|document\.write|https?:/u)
})

test('a page in one file has the look of the others, runs nothing and loads nothing', () => {
  const style = '.own { color: red }'
  const alone = standalonePage({
    name: 'Agent Exchange',
    language: 'en',
    title: '<b>Report',
    main: html`<p>${'<script>alert(1)</script>'}</p>`,
    footer: 'Made by a test',
    assets,
    style,
  })
  const [, rules = ''] = /<style>([^]*)<\/style>/u.exec(alone) ?? []
  assert.equal(rules, `${assets.style.body}\n${style}`)
  const hash = createHash('sha256').update(rules).digest('base64')
  assert.ok(alone.includes(`content="default-src 'none'; style-src 'sha256-${hash}';`))
  assert.doesNotMatch(alone, /<script|<link|\ssrc=|https?:(?!\/\/www\.w3\.org)|<b>/u)
  assert.match(alone, /<h1>&lt;b&gt;Report<\/h1>/u)
})
