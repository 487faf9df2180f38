import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { html } from './html.ts'

test('text in a template is escaped', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { text: made } = html`<p title="${text}">${text}</p>`
      assert.doesNotMatch(made.slice('<p title="'.length, -'</p>'.length).replace('">', ''), /[<>"']/u)
    }),
  )
  assert.equal(html`<b>${`<a href='x'>&"`}</b>`.text, '<b>&lt;a href=&#39;x&#39;&gt;&amp;&quot;</b>')
})

test('HTML parts are inserted unchanged', () => {
  const rows = ['a', 'b&'].map((name) => html`<li>${name}</li>`)
  assert.equal(html`${rows}${7}`.text, '<li>a</li>\n<li>b&amp;</li>7')
})
