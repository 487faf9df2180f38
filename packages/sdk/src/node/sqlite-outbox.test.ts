import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { entryOf, testOutbox } from '../outbox/outbox-contract.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { OUTBOX_STATES, type Outbox } from '../outbox/outbox.ts'
import { openSqliteOutbox } from './sqlite-outbox.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-outbox-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = () => join(folder, `outbox-${files++}.db`)

const IMPLEMENTATIONS: Record<string, () => Outbox> = {
  memory: createMemoryOutbox,
  sqlite: () => openSqliteOutbox(newFile()),
}

for (const [name, create] of Object.entries(IMPLEMENTATIONS)) testOutbox(name, create)

test('both outboxes answer any sequence of calls alike', async () => {
  const id = fc.constantFrom('pkg_1', 'pkg_2')
  const state = fc.constantFrom(...OUTBOX_STATES)
  const call = fc.oneof(
    fc.record({ do: fc.constant('add' as const), id, state }),
    fc.record({ do: fc.constant('advance' as const), id, state }),
    fc.record({ do: fc.constant('prune' as const), id, state }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
      using sqlite = openSqliteOutbox(':memory:')
      const both = [createMemoryOutbox(), sqlite]
      for (const [index, each] of calls.entries()) {
        const updatedAt = new Date(Date.UTC(2026, 0, 1 + index)).toISOString()
        const answers = await Promise.all(
          both.map(async (outbox) => {
            if (each.do === 'prune') return outbox.prune(new Date(Date.UTC(2026, 0, index - 1)).toISOString())
            if (each.do === 'add')
              return outbox.add(entryOf(each.id, { state: each.state, receiptKey: `${index}`, updatedAt }))
            const kept = await outbox.read(each.id)
            return kept && outbox.advance(kept, { state: each.state, updatedAt })
          }),
        )
        assert.deepEqual(answers[0], answers[1])
        assert.deepEqual(await both[0]?.pending(9), await both[1]?.pending(9))
      }
    }),
    { numRuns: 60 },
  )
})

test('what was written is there for the next process, and for nobody but its owner', async () => {
  const file = newFile()
  const first = openSqliteOutbox(file)
  const added = await first.add(entryOf('pkg_1'))
  using second = openSqliteOutbox(file)
  assert.deepEqual(await second.read('pkg_1'), added)
  first.close()
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('a file that cannot be used says so', () => {
  const isUnavailable = { code: 'outbox_unavailable' }
  assert.throws(() => openSqliteOutbox(folder), isUnavailable)
  const other = newFile()
  writeFileSync(other, 'not a database, and longer than the header of one would be '.repeat(20))
  assert.throws(() => openSqliteOutbox(other), isUnavailable)
  const newer = newFile()
  const db = new DatabaseSync(newer)
  db.exec('pragma user_version = 99')
  db.close()
  assert.throws(() => openSqliteOutbox(newer), isUnavailable)
})
