import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PeerPins, PinStore } from './peer-directory.ts'

export const pinsOf = (agentId: string, changes: Partial<PeerPins> = {}): PeerPins => ({
  agentId,
  organizationId: 'org_acme',
  directoryVersion: '2',
  keys: [
    {
      keyId: 'key_1',
      use: 'signing',
      fingerprint: 'f'.repeat(43),
      pinnedAt: '2026-03-01T09:00:00.000Z',
      by: 'first-use',
      invalidFrom: '2026-02-01T09:00:00Z',
    },
  ],
  expected: ['e'.repeat(43)],
  ...changes,
})

export const write = (store: PinStore, pins: PeerPins) => store.update(pins.agentId, () => pins)

/** What every pin store promises. */
export function testPinStore(name: string, open: () => PinStore | Promise<PinStore>): void {
  test(`pins ${name}: each agent has its own, and the last word counts`, async () => {
    const store = await open()
    assert.equal(await store.read('agent_a'), undefined)
    assert.deepEqual(await store.list(), [])
    await write(store, pinsOf('agent_a'))
    await write(store, pinsOf('agent_b', { organizationId: '', directoryVersion: '', keys: [] }))
    await write(store, pinsOf('agent_a', { directoryVersion: '3' }))
    assert.deepEqual(await store.read('agent_a'), pinsOf('agent_a', { directoryVersion: '3' }))
    assert.deepEqual((await store.list()).map(({ agentId }) => agentId).toSorted(), ['agent_a', 'agent_b'])
  })

  test(`pins ${name}: written at once, none is lost`, async () => {
    const store = await open()
    const ids = Array.from({ length: 12 }, (_, index) => `agent_${index}`)
    await Promise.all(ids.map((agentId) => write(store, pinsOf(agentId))))
    assert.deepEqual((await store.list()).map(({ agentId }) => agentId).toSorted(), ids.toSorted())
  })
}
