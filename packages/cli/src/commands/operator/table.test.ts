import assert from 'node:assert/strict'
import { test } from 'node:test'
import { table } from './table.ts'

const rows = [
  { delivery_id: 'dlv_1', state: 'dead', url: 'https://a.example/hook', created_at: '2026-01-01T00:00:00Z' },
  { delivery_id: 'dlv_2', state: 'pending', url: 'https://b.example/a', created_at: '2026-01-02T00:00:00Z' },
]
const columns = ['delivery_id', 'state', 'url', 'created_at']

test('a table that fits has one line a row', () => {
  assert.equal(
    table(rows, columns, { width: 80 }),
    [
      'DELIVERY_ID  STATE    URL                     CREATED_AT',
      'dlv_1        dead     https://a.example/hook  2026-01-01T00:00:00Z',
      'dlv_2        pending  https://b.example/a     2026-01-02T00:00:00Z',
    ].join('\n'),
  )
})

test('no line is wider than the terminal: what does not fit follows on an indented line', () => {
  const text = table(rows, columns, { width: 48 })
  assert.equal(
    text,
    [
      'DELIVERY_ID  STATE    URL',
      '    CREATED_AT',
      'dlv_1        dead     https://a.example/hook',
      '    2026-01-01T00:00:00Z',
      'dlv_2        pending  https://b.example/a',
      '    2026-01-02T00:00:00Z',
    ].join('\n'),
  )
  for (const width of [24, 30, 40, 60, 80])
    for (const line of table(rows, columns, { width }).split('\n'))
      assert.ok(line.length <= Math.max(width, 26), line)
})

test('a value that is wider than any line stays whole', () => {
  const url = `https://example.org/${'a'.repeat(100)}`
  assert.ok(table([{ id: '1', url }], ['id', 'url'], { width: 80 }).includes(url))
})
