import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prefersJson } from './content-negotiation.ts'

const CASES: readonly [accept: string | undefined, json: boolean][] = [
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/json, */*', false],
  ['application/json, */*;q=0.5', true],
  ['application/json;q=0.4, text/html;q=0.5', false],
  ['application/json;q=0.5, text/html;q=0.4', true],
  ['application/*', true],
  ['application/json;q=0', false],
  ['application/json;q=nonsense', false],
  ['text/html;q=0, */*', true],
]

test('a client gets JSON only if it prefers it to HTML', () => {
  for (const [accept, json] of CASES) assert.equal(prefersJson(accept), json, String(accept))
})
