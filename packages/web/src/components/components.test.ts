import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../template/html.ts'
import { confirmation, filterForm, form, type Form } from './form.ts'
import { badge } from './badge.ts'
import { identifier, shortId, shortIdentifier, visible } from './identifier.ts'
import { named } from './named.ts'
import { notice } from './notice.ts'
import { relativeText, relativeTime } from './relative-time.ts'
import { MAXIMUM_TABLE_ROWS, table } from './table.ts'
import { timeline } from './timeline.ts'

const columns = [
  { title: 'Id', sort: { href: '?sort=id', direction: 'ascending' } },
  { title: 'Bytes', isNumeric: true },
] as const

test('a table has a caption, names its rows, and carries the titles into its cells for narrow screens', () => {
  const made = String(table({ caption: 'Packages', columns, rows: [['a', 1]], paging: { next: '?after=a' } }))
  assert.match(made, /<caption>\s*<span\s*>Packages<\/span>\s*<\/caption>/u)
  assert.match(made, /<th role="columnheader" scope="col" aria-sort="ascending">/u)
  assert.match(made, /<th role="rowheader" scope="row" data-label="Id"><div>a<\/div><\/th>/u)
  assert.match(made, /<td role="cell" class="numeric" data-label="Bytes"><div>1<\/div><\/td>/u)
  assert.match(made, /<a class="button" href="\?after=a" rel="next">/u)
})

test('a table without rows says what to do next; one with too many or uneven rows is a mistake', () => {
  const made = String(
    table({ caption: 'Packages', columns, rows: [], empty: { title: 'None', text: 'Send one.' } }),
  )
  assert.match(made, /None.*Send one\./su)
  assert.doesNotMatch(made, /<table/u)
  const row = ['a', 1]
  assert.throws(
    () => table({ caption: 'x', columns, rows: Array.from({ length: MAXIMUM_TABLE_ROWS + 1 }, () => row) }),
    RangeError,
  )
  assert.throws(() => table({ caption: 'x', columns, rows: [['a']] }), RangeError)
})

const given: Form = {
  id: 'f',
  action: '/suspend',
  csrfToken: 'token',
  fields: [
    {
      kind: 'text',
      name: 'reason',
      label: 'Reason',
      hint: 'Kept in the log.',
      error: 'Too long.',
      isRequired: true,
      value: '"x',
    },
    { kind: 'textarea', name: 'text', label: 'Text', value: '\n</textarea><b>' },
  ],
  submit: { label: 'Suspend' },
}

test('a form posts its CSRF token; errors are summed up and tied to their fields', () => {
  const made = String(form(given))
  assert.match(made, /<form id="f" action="\/suspend" method="post">/u)
  assert.match(made, /<input type="hidden" name="csrf_token" value="token" \/>/u)
  assert.match(made, /role="alert".*<a href="#f-reason"\s*>Reason<\/a/su)
  assert.match(
    made,
    /<input\s+id="f-reason"[^>]*aria-describedby="f-reason-hint f-reason-error" aria-invalid="true"[^>]*value="&quot;x"/u,
  )
  assert.match(made, /<label for="f-reason">Reason<\/label>/u)
  // The first line break belongs to the parser, the second to the value.
  assert.match(made, />\n\n&lt;\/textarea&gt;&lt;b&gt;<\/textarea>/u)
})

test('a refused form shows what was typed and what is wrong; a password stays empty', () => {
  const fields: Form['fields'] = [
    { kind: 'hidden', name: 'purpose', value: 'token' },
    { kind: 'text', name: 'reason', label: 'Reason', value: 'as stored' },
    { kind: 'password', name: 'secret', label: 'Secret' },
    { kind: 'checkbox', name: 'all', label: 'All', isChecked: true },
  ]
  const refused = {
    action: '/rotate',
    values: new Map([
      ['purpose', 'token'],
      ['reason', 'typed'],
      ['secret', 'hunter2'],
    ]),
    errors: { reason: 'Too short.' },
  }
  const made = (action: string, purpose: string) =>
    String(
      confirmation({
        summary: 'Rotate…',
        explanation: 'x',
        form: {
          ...given,
          action,
          refused,
          fields: [{ kind: 'hidden', name: 'purpose', value: purpose }, ...fields.slice(1)],
        },
      }),
    )
  const shown = made('/rotate', 'token')
  assert.match(shown, /^<details class="confirm danger" open>/u)
  assert.match(shown, /id="f-reason"[^>]*autofocus[^>]*aria-invalid="true"[^>]*value="typed"/u)
  assert.match(shown, /Too short\./u)
  assert.doesNotMatch(shown, /hunter2|checked/u)
  for (const other of [made('/rotate', 'webhook'), made('/revoke', 'token')]) {
    assert.match(other, /^<details class="confirm danger">/u)
    assert.match(other, /value="as stored"/u)
  }
})

test('a filter changes nothing and carries no token', () => {
  const made = String(
    filterForm({
      id: 'q',
      action: './',
      fields: [{ kind: 'search', name: 'q', label: 'Id' }],
      submitLabel: 'Go',
    }),
  )
  assert.match(made, /method="get"/u)
  assert.doesNotMatch(made, /csrf/u)
})

test('a confirmation shows its form only after a first step that needs no script', () => {
  const made = String(confirmation({ summary: 'Suspend…', explanation: 'Tokens stop working.', form: given }))
  assert.match(made, /^<details class="confirm danger">\s*<summary>Suspend…<\/summary>/u)
  assert.match(made, /Tokens stop working\..*<button\s+type="submit" class="danger"/su)
  const harmless = confirmation({
    summary: 'Change…',
    explanation: 'Mail goes elsewhere.',
    form: { ...given, submit: { label: 'Change', tone: 'primary' } },
  })
  assert.match(String(harmless), /^<details class="confirm">/u)
})

test('ids that differ only by what nobody sees look different', () => {
  assert.equal(visible('pkg_a\u200b'), 'pkg_a\\u{200b}')
  assert.equal(visible('pkg\u202etxt.exe'), 'pkg\\u{202e}txt.exe')
  assert.equal(visible('a\u00a0b c\n\ud800'), 'a\\u{a0}b c\\u{a}\\u{d800}')
  assert.equal(visible('Müller & 株式会社 ägent_1'), 'Müller & 株式会社 ägent_1')
  assert.match(String(identifier('a"b')), /data-copy="a&quot;b"/u)
})

test('a long id in a list shows its ends; the whole one is in its text, its title and its copy button', () => {
  const id = 'pkg_c09a36fb13a82a86bf9892c2def8e213'
  const made = String(shortIdentifier(id, `/packages/${id}`))
  assert.match(made, new RegExp(`<a href="/packages/${id}" title="${id}"><bdi class="id">`, 'u'))
  assert.match(made, />pkg_c09a36fb<span class="cut">13a82a86bf9892c2de<\/span>f8e213<\/bdi>/u)
  assert.match(made, new RegExp(`data-copy="${id}" aria-label="Copy ${id}" hidden`, 'u'))
  assert.equal(
    made
      .replaceAll(/<[^>]*>/gu, '')
      .trim()
      .startsWith(id),
    true,
  )
  assert.match(String(shortId(id)), new RegExp(`^<span title="${id}">`, 'u'))
  assert.equal(String(shortId('org_acme')), '<bdi class="id">org_acme</bdi>')
  // What nobody sees is spelled out before it is shortened.
  assert.match(String(shortId(`org_${'\u202e'.repeat(9)}`)), /title="org_(?:\\u\{202e\}){9}"/u)
})

test('a name leads, its id is in the title, and what belongs to it stands below', () => {
  const made = String(
    named({ name: '<b>Acme\u202e', id: 'org_acme', href: '/organizations/org_acme', below: html`agent_1` }),
  )
  assert.match(
    made,
    /<a href="\/organizations\/org_acme" title="org_acme"><bdi>&lt;b&gt;Acme\\u\{202e\}<\/bdi><\/a>/u,
  )
  assert.match(made, /<span class="below">agent_1<\/span>/u)
})

test('the text of a badge is one element, which the style sheet keeps on one line', () => {
  assert.match(String(badge('info', 'encrypted available')), /<span>encrypted available<\/span><\/span>$/u)
})

test('a message may have a list below, and has none without items', () => {
  const made = String(
    notice({ tone: 'warn', title: '2 things', items: [html`<a href="/x">One</a>`, '<two>'] }),
  )
  assert.match(made, /<ul>\s*<li><a href="\/x">One<\/a><\/li>\s*<li>&lt;two&gt;<\/li>\s*<\/ul>/u)
  assert.doesNotMatch(String(notice({ tone: 'good', title: 'Fine', items: [] })), /<ul/u)
})

test('a time is relative in the text and exact in the attributes', () => {
  const now = new Date('2026-11-16T12:00:00.000Z')
  const at = (seconds: number) => relativeText(new Date(now.getTime() + seconds * 1_000), now)
  assert.deepEqual([0, -1, -59, -60, -3_599, -3_600, -86_399, -86_400 * 3, 300].map(at), [
    'in 0 sec.',
    '1 sec. ago',
    '59 sec. ago',
    '1 min. ago',
    '59 min. ago',
    '1 hr. ago',
    '23 hr. ago',
    '3 days ago',
    'in 5 min.',
  ])
  assert.match(
    String(relativeTime(now, now)),
    /<time datetime="2026-11-16T12:00:00\.000Z" title="2026-11-16T12:00:00\.000Z"/u,
  )
})

test('a timeline is ordered lists that say in words what the picture shows', () => {
  const step = { at: html`now`, title: 'Package accepted', tone: 'info' } as const
  const made = String(
    timeline({
      lanes: ['Acme', 'exchange'],
      groups: [
        {
          label: 'Package 1',
          heading: html`<h3>Package 1</h3>`,
          steps: [
            { ...step, from: 0, to: 1 },
            { ...step, from: 1, facts: 'the facts' },
          ],
        },
        { label: 'Keys', steps: [{ ...step, from: 0 }] },
      ],
    }),
  )
  assert.match(made, /<section class="group"><h3>Package 1<\/h3>/u)
  assert.match(made, /<ol class="steps" aria-label="Package 1">/u)
  assert.match(made, /<bdi>Acme<\/bdi><bdi> to exchange<\/bdi>/u)
  assert.equal(made.match(/<summary><strong>Package accepted<\/strong>/gu)?.length, 1)
  assert.match(made, /<\/summary>\s*the facts\s*<\/details>/u)
  assert.equal(made.match(/<polygon/gu)?.length, 1)
  const lanes = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  assert.throws(() => timeline({ lanes, groups: [] }), RangeError)
})

test('what followed from a step is nested below it, in as many levels as there are', () => {
  const made = String(
    timeline({
      lanes: ['Acme'],
      groups: [
        {
          label: 'x',
          steps: [
            {
              at: html`now`,
              title: 'Package accepted',
              tone: 'good',
              from: 0,
              notes: [
                {
                  tone: 'warn',
                  text: 'Event: retrying',
                  facts: 'its ids',
                  notes: [{ tone: 'bad', text: 'Attempt 1: status 503' }],
                },
              ],
            },
          ],
        },
      ],
    }),
  )
  const event =
    /<ul class="notes">\s*<li class="warn">[^]*?<summary>Event: retrying<\/summary>\s*its ids[^]*?<ul class="notes">\s*<li class="bad">[^]*?Attempt 1/u
  assert.match(made, event)
  assert.equal(made.match(/<svg[^>]*aria-hidden/gu)?.length, 2)
})
