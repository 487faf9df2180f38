import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import type { PackageMetadata } from '@agent-exchange/protocol'
import fc from 'fast-check'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { hasEnded, OUTBOX_STATES, type Outbox, type OutboxEntry } from '../outbox/outbox.ts'
import { openSqliteOutbox } from './sqlite-outbox.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-outbox-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = () => join(folder, `outbox-${files++}.db`)

const entryOf = (packageId: string, change: Partial<OutboxEntry> = {}): OutboxEntry => ({
  packageId,
  state: 'sealed',
  revision: 0,
  transportMode: 'native',
  metadata: { package_id: packageId } as PackageMetadata,
  receiptText: '{}',
  receiptKey: 'idem_a',
  envelopeText: '{"payload":"ä"}',
  packageKey: 'idem_b',
  createdAt: '2026-03-01T00:00:00.000Z',
  updatedAt: '2026-03-01T00:00:00.000Z',
  ...change,
})

/** What every outbox has to do. */
const IMPLEMENTATIONS: Record<string, () => Outbox> = {
  memory: createMemoryOutbox,
  sqlite: () => openSqliteOutbox(newFile()),
}

for (const [name, create] of Object.entries(IMPLEMENTATIONS)) {
  test(`${name}: the first entry of an id stays, until it was refused`, async () => {
    const outbox = create()
    const first = await outbox.add(entryOf('pkg_1', { receiptKey: 'idem_first' }))
    const second = await outbox.add(entryOf('pkg_1', { receiptKey: 'idem_second' }))
    assert.equal(second.receiptKey, 'idem_first')
    assert.deepEqual(second, first)
    await outbox.advance(first, { state: 'refused', problem: 'x', updatedAt: first.updatedAt })
    const third = await outbox.add(entryOf('pkg_1', { receiptKey: 'idem_third' }))
    assert.equal(third.receiptKey, 'idem_third')
    assert.equal(third.problem, undefined)
    assert.ok(third.revision > first.revision)
    assert.deepEqual(await outbox.read('pkg_1'), third)
    assert.equal(await outbox.read('pkg_2'), undefined)
  })

  test(`${name}: who comes late changes nothing and learns what is`, async () => {
    const outbox = create()
    const added = await outbox.add(entryOf('pkg_1'))
    const moved = await outbox.advance(added, { state: 'receipt_accepted', updatedAt: added.updatedAt })
    const late = await outbox.advance(added, { state: 'refused', updatedAt: added.updatedAt })
    assert.equal(late.state, 'receipt_accepted')
    assert.deepEqual(late, moved)
  })

  test(`${name}: lists what has no end, the oldest first, and forgets what ended long ago`, async () => {
    const outbox = create()
    const day = (n: number) => `2026-03-0${n}T00:00:00.000Z`
    for (const [index, state] of [...OUTBOX_STATES].toReversed().entries())
      await outbox.add(
        entryOf(`pkg_${state}`, { state, createdAt: day(9 - index), updatedAt: day(index + 1) }),
      )
    const open = OUTBOX_STATES.filter((state) => !hasEnded({ state })).map((state) => `pkg_${state}`)
    assert.deepEqual(
      (await outbox.pending(10)).map(({ packageId }) => packageId),
      open,
    )
    assert.equal((await outbox.pending(1)).length, 1)
    assert.equal(await outbox.prune(day(2)), 1)
    assert.equal(await outbox.prune('2027-01-01T00:00:00Z'), 1)
    assert.deepEqual(
      (await outbox.pending(10)).map(({ packageId }) => packageId),
      open,
    )
  })
}

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
