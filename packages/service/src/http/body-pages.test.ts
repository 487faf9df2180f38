import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBodyPages } from './body-pages.ts'

test('the bytes of a body come back unchanged, however they are divided and whatever was announced', () => {
  const chunk = fc.integer({ min: 0, max: 40_000 }).map((length) => Buffer.alloc(length, length % 251))
  const announcement = fc.option(fc.nat(60_000), { nil: undefined })
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), announcement, (chunks, announced) => {
      const pages = createBodyPages(announced)
      for (const each of chunks) pages.add(each)
      assert.ok(Buffer.concat(chunks).equals(pages.bytes()))
    }),
  )
})

test('a body in chunks of one byte takes little more memory than its size', () => {
  const BYTES = 1_000_000
  const pages = createBodyPages()
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < BYTES; i++) pages.add(Buffer.of(i % 256))
  assert.equal(pages.bytes().length, BYTES)
  const chunks = process.memoryUsage().arrayBuffers - before
  assert.ok(chunks < 10 * BYTES, String(chunks))
})
