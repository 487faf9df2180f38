import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyText } from '@agent-exchange/testkit/any-text'
import fc from 'fast-check'
import { attributes, html, trusted, type Html, type Part } from './html.ts'

const text = (made: Html) => String(made)

/** A template as an untyped caller could write it, with any constant parts and any values. */
function templateOf(strings: readonly string[], ...parts: readonly unknown[]): string {
  return text(html(Object.assign([...strings], { raw: strings }), ...(parts as Part[])))
}

test('text that enters a template stays text', () => {
  fc.assert(
    fc.property(anyText, (value) => {
      const made = text(html`<p title="${value}">${value}</p>`)
      assert.doesNotMatch(made.slice('<p title="'.length, -'</p>'.length).replace('">', ''), /[<>"'\0]/u)
    }),
  )
  assert.equal(text(html`<b>${`<a href='x'>&"`}</b>`), '<b>&lt;a href=&#39;x&#39;&gt;&amp;&quot;</b>')
})

test('templates and lists of them nest; nothing renders as nothing', () => {
  const rows = ['a', 'b&'].map((name) => html`<li>${name}</li>`)
  assert.equal(text(html`${rows}${7}${10n}`), '<li>a</li><li>b&amp;</li>710')
  assert.equal(text(html`${null}${undefined}${false}${[]}${['', [null, 'x']]}${0}`), 'x0')
})

test('a string never passes for HTML', () => {
  // @ts-expect-error a string is not Html
  const typed: Html = '<b>'
  // @ts-expect-error neither is an object that looks like one
  const forged: Html = { toString: () => '<b>' }
  assert.equal(text(html`${typed}`), '&lt;b&gt;')
  assert.throws(() => html`${forged}`, /a object cannot be written/u)
  // JSON from the network has no prototype of ours.
  assert.throws(() => templateOf(['<p>', '</p>'], JSON.parse('{"text":"<b>"}')), TypeError)
  for (const value of [true, Symbol('s'), () => '<b>'])
    assert.throws(() => templateOf(['<p>', '</p>'], value), TypeError)
})

test('only a literal is trusted', () => {
  assert.equal(text(html`${trusted('<br>')}`), '<br>')
  const fromOutside: string = '<script>'
  // @ts-expect-error not a literal
  trusted(fromOutside)
})

test('HTML does not enter an attribute, whose quote it could close', () => {
  assert.throws(() => html`<p title="${html`<b title="x">b</b>`}"></p>`, TypeError)
})

const UNSAFE_TEMPLATES: readonly (readonly string[])[] = [
  ['<script>', '</script>'],
  ['<script>let a = "', '"</script>'],
  ['<style>a { color: ', ' }</style>'],
  ['<script ', '></script>'],
  ['<script src="a.js">', '</script>'],
  ['<link ', '>'],
  ['<p onclick="', '"></p>'],
  ['<p OnMouseOver="', '"></p>'],
  ['<p style="color: ', '"></p>'],
  ['<iframe srcdoc="', '"></iframe>'],
  ['<iframe src="', '"></iframe>'],
  ['<img srcset="', '">'],
  ['<base href="', '">'],
  ['<meta http-equiv="refresh" content="', '">'],
  ['<a href=', '>x</a>'],
  ['<a title=x', '>x</a>'],
  ['<a title=', ' href="x">x</a>'],
  ['<a ', '="x">x</a>'],
  ['<a data-', '="x">x</a>'],
  ['<a data', '>x</a>'],
  ['<', '>'],
  ['<b', '>'],
  ['</', '>'],
  ['<!-- ', ' -->'],
  ['<!', '>'],
  ['<p title="', ''],
  ['<p ', ''],
  ['<template>', '</template>'],
  ['<plaintext>', '</plaintext>'],
]

test('a template that cannot be made safe is refused, whatever the value', () => {
  for (const strings of UNSAFE_TEMPLATES)
    for (const value of ['x', '', 'javascript:alert(1)', 7])
      assert.throws(() => templateOf(strings, value), TypeError, strings.join('${}'))
})

test('constant scripts, comments and unusual spacing do not confuse the contexts', () => {
  assert.equal(
    templateOf(
      ['<!doctype html><!-- <b title=" --><script src="a.js"></script><p\n title = "', '" hidden>', '</p>'],
      '"',
      '<',
    ),
    '<!doctype html><!-- <b title=" --><script src="a.js"></script><p\n title = "&quot;" hidden>&lt;</p>',
  )
  assert.equal(templateOf(["<p title='", "'>a > b</p>"], "'"), "<p title='&#39;'>a > b</p>")
  assert.equal(templateOf(['<br/><img src="a" alt="', '"/>'], '>'), '<br/><img src="a" alt="&gt;"/>')
})

test('an address leads to http, https, mail or this origin, and nowhere else', () => {
  const hrefOf = (address: string) => /href="([^"]*)"/u.exec(text(html`<a href="${address}">x</a>`))?.[1]
  for (const good of [
    'https://a.example/b?c',
    'HTTP://a',
    'mailto:a@b',
    '/a',
    './',
    '../a',
    'a/b',
    '#a',
    '?a=b',
    '',
  ])
    assert.equal(hrefOf(good), good)
  for (const bad of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    'vbscript:x',
    'data:text/html,<script>',
    'blob:https://a/b',
    'file:/etc/passwd',
    '//evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
  ]) {
    assert.equal(hrefOf(bad), '#blocked-address', bad)
    for (const name of ['src', 'action', 'formaction', 'poster'])
      assert.ok(!text(html`<p ${attributes({ [name]: bad })}></p>`).includes('script'), bad)
  }
})

test('a value inside an address is one component: no path, query or host of its own', () => {
  const made = (id: string) => text(html`<a href="/packages/${id}/receipts?after=${id}">x</a>`)
  assert.equal(made('a/b?c&d'), '<a href="/packages/a%2Fb%3Fc%26d/receipts?after=a%2Fb%3Fc%26d">x</a>')
  assert.equal(made('..'), '<a href="/packages/blocked/receipts?after=blocked">x</a>')
  assert.equal(made('\ud800'), '<a href="/packages/%EF%BF%BD/receipts?after=%EF%BF%BD">x</a>')
  assert.equal(text(html`<a href="${'../'}docs/${'a b'}">x</a>`), '<a href="../docs/a%20b">x</a>')
  // Two values side by side cannot build a scheme.
  assert.equal(
    text(html`<a href="${'javascript'}${':alert(1)'}">x</a>`),
    '<a href="javascript%3Aalert(1)">x</a>',
  )
})

test('attributes are there or not, escaped, and never code', () => {
  const made = attributes({
    required: true,
    disabled: false,
    title: '"><script>',
    min: 0,
    id: undefined,
    lang: null,
  })
  assert.equal(text(html`<input ${made} />`), '<input required title="&quot;&gt;&lt;script&gt;" min="0" />')
  for (const name of ['onclick', 'style', 'srcdoc', 'a b', 'a=b', 'a>', '', 'A'])
    assert.throws(() => attributes({ [name]: 'x' }), /cannot be set/u, name)
  assert.throws(() => templateOf(['<p ', '></p>'], 'onclick=alert(1)'), /only attributes\(\)/u)
  assert.throws(() => templateOf(['<p>', '</p>'], made), /inside a tag/u)
})

test('scripts and style sheets come from this site', () => {
  const script = (address: string) => text(html`<script src="${address}"></script>`)
  const link = (address: string) => text(html`<link href="${address}" />`)
  assert.equal(script('./a.js'), '<script src="./a.js"></script>')
  assert.equal(link('./a.css'), '<link href="./a.css" />')
  for (const address of ['https://evil.example/a', '//evil.example/a', 'data:text/css,a', '/\\evil.example'])
    for (const made of [script(address), link(address)]) assert.match(made, /"#blocked-address"/u, address)
})
