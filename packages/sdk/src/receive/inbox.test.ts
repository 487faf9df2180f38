import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { openSqliteInbox } from '../node/sqlite-inbox.ts'
import type { Inbox } from './inbox.ts'
import { AT, event, ids, LATER, lease, page, testInbox } from './inbox-contract.fixture.ts'
import { MemoryInbox } from './memory-inbox.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-inbox-'))
const opened: Inbox[] = []
after(async () => {
  for (const inbox of opened) await inbox.close()
  rmSync(folder, { recursive: true })
})

let files = 0
const keep = <T extends Inbox>(inbox: T): T => {
  opened.push(inbox)
  return inbox
}
/** Every kind of inbox keeps the same promises. */
const KINDS: Readonly<Record<string, () => Inbox>> = {
  memory: () => keep(new MemoryInbox()),
  sqlite: () => keep(openSqliteInbox(join(folder, `inbox-${files++}.db`))),
}

for (const [kind, open] of Object.entries(KINDS)) {
  testInbox(kind, open)

  test(`[EVT-14] ${kind}: an effect that waits is refused, and its event stays pending`, async () => {
    const inbox = open()
    await inbox.store(event(1), 'webhook', AT)
    await assert.rejects(
      inbox.finish('evt_1', AT, async () => undefined),
      /synchronous/,
    )
    assert.equal((await inbox.next())?.eventId, 'evt_1')
  })
}

test('[EVT-14] both kinds do the same, whatever happens in whatever order', async () => {
  const sequence = fc.integer({ min: 0, max: 12 })
  const step = fc.oneof(
    fc.record({ do: fc.constant('store' as const), sequence, other: fc.boolean() }),
    fc.record({
      do: fc.constant('page' as const),
      from: sequence,
      picks: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
    }),
    fc.record({ do: fc.constantFrom('next', 'setAside', 'drop', 'acknowledge', 'prune', 'attempt') }),
    fc.record({ do: fc.constant('retry' as const), sequence }),
  )
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

  async function apply(inbox: Inbox, each: Step): Promise<unknown> {
    if (each.do === 'store' && 'other' in each) {
      const given = event(each.sequence, `evt_${each.sequence}${each.other ? 'x' : ''}`)
      return inbox.store(given, 'webhook', AT)
    }
    if (each.do === 'page' && 'picks' in each) {
      const sequences = each.picks.map((pick) => each.from + pick).toSorted((a, b) => a - b)
      return inbox.storePage(page(sequences, `c${sequences.at(-1)}`))
    }
    if (each.do === 'retry' && 'sequence' in each) return inbox.retry(`evt_${each.sequence}`)
    const next = await inbox.next()
    if (each.do === 'next') return next && inbox.finish(next.eventId, AT)
    if (each.do === 'setAside') return next && inbox.setAside(next.eventId, AT, 'r')
    if (each.do === 'attempt') return next && inbox.beginAttempt(next.eventId, lease())
    if (each.do === 'drop') return inbox.dropCursor()
    if (each.do === 'prune') return inbox.prune(LATER, 3)
    return inbox.markAcknowledged(ids(await inbox.unacknowledged(3)), AT)
  }
  const look = async (inbox: Inbox) => ({
    position: await inbox.position(),
    gaps: await inbox.gaps(),
    next: (await inbox.next())?.eventId,
    pending: ids(await inbox.list('pending', 99)),
    processed: ids(await inbox.list('processed', 99)),
    aside: ids(await inbox.list('set_aside', 99)),
    unacknowledged: await inbox.unacknowledged(99),
  })

  const sqlite = KINDS['sqlite']
  assert.ok(sqlite)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const [memory, file] = [new MemoryInbox(), openSqliteInbox(':memory:')]
      const processed = new Set<string>()
      for (const each of steps) {
        assert.deepEqual(await apply(file, each), await apply(memory, each), JSON.stringify(each))
        const seen = await look(file)
        assert.deepEqual(seen, await look(memory), JSON.stringify(each))
        // The mark never runs ahead of what is stored or gone, and never waits where nothing is missing.
        assert.ok(seen.position.lastContiguousSequence >= seen.position.polledThrough)
        // What had its effect is never given up as missing, and never pending again.
        for (const id of seen.processed) processed.add(id)
        for (const id of processed) assert.ok(!seen.pending.includes(id), id)
        for (const { firstSequence, lastSequence } of seen.gaps) {
          for (let n = firstSequence; n <= lastSequence; n++) {
            assert.ok(![`evt_${n}`, `evt_${n}x`].some((id) => processed.has(id)), `gap at ${n}`)
          }
        }
      }
      await file.close()
    }),
    { numRuns: 150 },
  )
})
