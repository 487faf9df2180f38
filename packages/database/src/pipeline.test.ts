import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import type pg from 'pg'
import { column, copyStatement, copyTarget } from './copy.ts'
import { Pipeline } from './pipeline.ts'
import type { Statement } from './queries.ts'

const ignore = () => undefined

test('a pipeline leaves as one buffer, with its copied rows and one sync at the end', () => {
  const written: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk)
      done()
    },
  })
  const target = copyTarget<{ value: string }>('noted', { value: column.text })
  const statements: Statement[] = [
    { text: 'select $1::text', values: ['first'] },
    copyStatement(target, [{ value: 'one row' }, { value: 'another row' }]),
    { text: 'commit', values: [] },
  ]
  const requests = statements.map((statement) => ({ statement, resolve: ignore, reject: ignore }))
  new Pipeline(requests, new Map()).submit({ stream } as unknown as pg.Connection)
  assert.equal(written.length, 1)
  assert.equal(codesOf(written[0] ?? Buffer.alloc(0)), 'PDBEPDBEdddcPDBES')
})

/** The first byte of each message; its length follows. */
function codesOf(bytes: Buffer): string {
  let codes = ''
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1))
    codes += String.fromCharCode(bytes[at] ?? 0)
  return codes
}
