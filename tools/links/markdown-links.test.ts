import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anchorsOf, checkLinks, findLinks, withFolders } from './markdown-links.ts'

test('inline links, images, reference definitions and HTML are found with their lines', () => {
  const found = findLinks(`[a](one.md) and ![b](two.svg "title")
[c](<three.md>) [d](four(1).md)

[ref]: five.md
<img alt="" src="six.png">
[![badge](seven.svg)](eight.md)`)
  assert.deepEqual(
    found.map(({ line, target }) => `${line} ${target}`),
    [
      '1 one.md',
      '1 two.svg',
      '2 three.md',
      '2 four(1).md',
      '4 five.md',
      '5 six.png',
      '6 seven.svg',
      '6 eight.md',
    ],
  )
})

test('links in code and comments are ignored', () => {
  assert.deepEqual(findLinks('`[a](b.md)` ``[c](`d.md)``\n\n```md\n[e](f.md)\n```\n<!-- [g](h.md) -->'), [])
})

test('anchors match the slugs of GitHub', () => {
  const anchors = anchorsOf(
    '# Two words\n## `aex config`, & more!\n## [Linked](x.md) title\n## Same\n## Same\n' +
      '```sh\n# not a heading\n```\n<a id="by-hand"></a>\n### snake_case 1.2\n',
  )
  assert.deepEqual(
    [...anchors],
    ['two-words', 'aex-config--more', 'linked-title', 'same', 'same-1', 'snake_case-12', 'by-hand'],
  )
})

test('a link that resolves to no file, folder or heading is reported', () => {
  const pages = [
    {
      path: 'README.md',
      text: '# Top\n[a](docs/a.md#part) [b](docs) [c](#top) [d](https://example.org/x) [e](LICENSE)',
    },
    {
      path: 'docs/a.md',
      text: '## Part\n[up](../README.md) [root](/LICENSE)\n[gone](b.md) [no](../README.md#nowhere)',
    },
  ]
  const existing = withFolders([...pages.map(({ path }) => path), 'LICENSE'])
  assert.deepEqual(checkLinks(pages, existing), [
    { path: 'docs/a.md', line: 3, message: 'b.md leads to no file' },
    { path: 'docs/a.md', line: 3, message: 'README.md has no heading #nowhere' },
  ])
})

test('all parent folders of a file are included', () => {
  assert.deepEqual(withFolders(['a/b/c.md']), new Set(['.', 'a/b/c.md', 'a/b', 'a']))
})
