import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { anyText } from '@agent-exchange/testkit/any-text'
import fc from 'fast-check'
import { makeCursor, readCursor } from './cursor.ts'
import { pageLimit, toPage } from './page.ts'
import { Problem } from './problem.ts'

const secret = createSecretKey(new Uint8Array(32).fill(1))
const isInvalid = (error: unknown) => error instanceof Problem && error.code === 'cursor_invalid'

test('[API-06] a cursor returns its position, whatever the position is', () => {
  fc.assert(
    fc.property(anyText, fc.string(), (position, listing) => {
      fc.pre(position.isWellFormed() && listing.isWellFormed())
      const cursor = makeCursor(secret, listing, position)
      assert.match(cursor, /^[A-Za-z0-9_-]+$/)
      assert.equal(readCursor(secret, listing, cursor), position)
    }),
  )
})

test('[API-06] a cursor with any one character changed, added or removed is refused', () => {
  const cursor = makeCursor(secret, 'list', 'agent_0042')
  for (let index = 0; index < cursor.length; index++) {
    const [before, here, after] = [cursor.slice(0, index), cursor[index], cursor.slice(index + 1)]
    const altered = 'AQgwZ-_'
      .split('')
      .filter((other) => other !== here)
      .map((other) => before + other + after)
    for (const other of [...altered, before + after, `${before}A${cursor.slice(index)}`]) {
      if (other !== cursor) assert.throws(() => readCursor(secret, 'list', other), isInvalid, other)
    }
  }
})

test('[API-06] a cursor of another listing or another exchange, and one without a valid MAC, is refused', () => {
  const cursor = makeCursor(secret, 'listA', 'B5')
  assert.throws(() => readCursor(secret, 'list', cursor), isInvalid)
  assert.throws(() => readCursor(createSecretKey(new Uint8Array(32).fill(2)), 'listA', cursor), isInvalid)
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.throws(() => readCursor(secret, 'listA', text), isInvalid)
    }),
  )
  assert.throws(() => readCursor(secret, 'listA', 'A'.repeat(1_000_000)), isInvalid)
})

test('[API-06] a limit that is too large is refused, with the maximum of its listing', () => {
  for (const point of ['O-07', 'O-15', 'O-40'] as const) {
    const { default_limit, maximum_limit } = DEFAULT_PROFILE[point]
    assert.equal(pageLimit(undefined, DEFAULT_PROFILE, point), default_limit)
    assert.equal(pageLimit(maximum_limit, DEFAULT_PROFILE, point), maximum_limit)
    assert.throws(
      () => pageLimit(maximum_limit + 1, DEFAULT_PROFILE, point),
      ({ details }: Problem) =>
        details['maximum_limit'] === maximum_limit && JSON.stringify(details).includes(`"${point}"`),
    )
  }
})

test('[API-06] the last page has no next cursor', () => {
  const shape = { cursorAfter: String, item: (row: number) => row * 2 }
  assert.deepEqual(toPage([1, 2, 3], 2, shape), { items: [2, 4], next_cursor: '2', has_more: true })
  assert.deepEqual(toPage([1, 2], 2, shape), { items: [2, 4], next_cursor: null, has_more: false })
  assert.deepEqual(toPage([], 2, shape), { items: [], next_cursor: null, has_more: false })
})
