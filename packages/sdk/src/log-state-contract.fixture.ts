import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogStateStore } from './log-state.ts'

export const state = (checkpoint: string) => ({ keys: ['key'], checkpoint })

/** What every store of the log's state promises. `open` gives the same store each time for the same name. */
export function testLogState(
  kind: string,
  open: (name: string) => LogStateStore | Promise<LogStateStore>,
): void {
  test(`${kind}: the state survives the process, and of two writers one wins`, async () => {
    const [mine, theirs] = [await open('log'), await open('log')]
    assert.equal(await mine.read(), undefined)
    assert.equal(await mine.replace(undefined, state('one')), true)
    assert.equal(await theirs.replace(undefined, state('other')), false)
    assert.deepEqual(await theirs.read(), state('one'))
    const raced = await Promise.all([
      mine.replace(state('one'), state('two')),
      theirs.replace(state('one'), state('three')),
    ])
    assert.deepEqual(raced.toSorted(), [false, true])
  })

  test(`${kind}: every split view is kept by a name of its own`, async () => {
    const store = await open('views')
    const at = '2026-01-02T03:04:05.000Z'
    const view = { format: 'aex-split-view/1', key: 'k', first: 'a', second: 'b', found_at: at } as const
    assert.notEqual(await store.keepSplitView(view), await store.keepSplitView(view))
  })

  test(`${kind}: trouble is kept until the log is checked again`, async () => {
    const since = '2026-01-02T03:04:05.000Z'
    const unproved = { note: 'n', since, failures: 2, file: 'f' }
    const trouble = { since, reason: 'out of reach', unproved }
    await (await open('trouble')).writeTrouble(trouble)
    assert.deepEqual(await (await open('trouble')).readTrouble(), trouble)
    await (await open('trouble')).writeTrouble(undefined)
    assert.equal(await (await open('trouble')).readTrouble(), undefined)
  })
}
