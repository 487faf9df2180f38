import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ExchangeError } from '../errors.ts'
import { createMemoryPinStore } from '../peers/memory-pin-store.ts'
import { pinsOf, testPinStore, write } from '../peers/pin-store-contract.fixture.ts'
import type { PinStore } from '../peers/peer-directory.ts'
import { openFilePinStore } from './file-pin-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-pins-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const freshFile = () => join(folder, `pins-${(files += 1)}.json`)
const refused = (error: unknown) => error instanceof ExchangeError && error.code === 'pin_store_unreadable'

const stores: [string, () => PinStore][] = [
  ['in memory', createMemoryPinStore],
  ['in a file', () => openFilePinStore(freshFile())],
]
for (const [name, open] of stores) testPinStore(name, open)

test('two processes that change the pins of one agent do not undo each other', async () => {
  const file = freshFile()
  const [one, two] = [openFilePinStore(file), openFilePinStore(file)]
  const expect =
    (fingerprint: string) =>
    (before = pinsOf('agent_a', { expected: [] })) => ({
      ...before,
      expected: [...before.expected, fingerprint],
    })
  const fingerprints = Array.from({ length: 10 }, (_, index) => String(index).repeat(43).slice(0, 43))
  await Promise.all(
    fingerprints.map((each, index) => (index % 2 ? one : two).update('agent_a', expect(each))),
  )
  assert.deepEqual((await one.read('agent_a'))?.expected.toSorted(), fingerprints)
  await assert.rejects(one.update('agent_a', () => Promise.reject(new ExchangeError('peer_key_mismatch'))))
  assert.equal((await two.read('agent_a'))?.expected.length, 10)
})

test('pins outlive their process, and only their owner reads and writes them', async () => {
  const file = freshFile()
  await write(openFilePinStore(file), pinsOf('agent_a'))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(await openFilePinStore(file).read('agent_a'), pinsOf('agent_a'))
})

test('pins that others can write, or that are damaged, are refused and never taken for none', async () => {
  const file = freshFile()
  const store = openFilePinStore(file)
  await write(store, pinsOf('agent_a'))
  const text = readFileSync(file, 'utf8')
  for (const mode of [0o620, 0o602]) {
    chmodSync(file, mode)
    await assert.rejects(store.read('agent_a'), refused)
    await assert.rejects(write(store, pinsOf('agent_b')), refused)
  }
  chmodSync(file, 0o600)
  const damaged = [
    '',
    '{}',
    text.slice(0, -9),
    text.replace('"version": 1', '"version": 9'),
    text.replace('first-use', 'trust-me'),
  ]
  for (const content of damaged) {
    writeFileSync(file, content)
    for (const attempt of [
      () => store.read('agent_a'),
      () => store.list(),
      () => write(store, pinsOf('agent_b')),
    ]) {
      await assert.rejects(attempt(), refused)
    }
    assert.equal(readFileSync(file, 'utf8'), content)
  }
})

test('a place that cannot be written says so', async () => {
  await assert.rejects(write(openFilePinStore(join(folder, 'none', 'pins.json')), pinsOf('agent_a')), refused)
})
