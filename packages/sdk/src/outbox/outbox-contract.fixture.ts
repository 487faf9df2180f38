import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PackageMetadata } from '@agent-exchange/protocol'
import { hasEnded, OUTBOX_STATES, type Outbox, type OutboxEntry } from './outbox.ts'

export const entryOf = (packageId: string, change: Partial<OutboxEntry> = {}): OutboxEntry => ({
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
export function testOutbox(name: string, create: () => Outbox | Promise<Outbox>): void {
  test(`${name}: the first entry of an id stays, until it was refused`, async () => {
    const outbox = await create()
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
    const outbox = await create()
    const added = await outbox.add(entryOf('pkg_1'))
    const moved = await outbox.advance(added, { state: 'receipt_accepted', updatedAt: added.updatedAt })
    const late = await outbox.advance(added, { state: 'refused', updatedAt: added.updatedAt })
    assert.equal(late.state, 'receipt_accepted')
    assert.deepEqual(late, moved)
  })

  test(`${name}: lists what has no end, the oldest first, and forgets what ended long ago`, async () => {
    const outbox = await create()
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
