import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { state, testLogState } from '../log-state-contract.fixture.ts'
import { openFileLogState } from './file-log-state.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-log-state-'))
after(() => rmSync(folder, { recursive: true, force: true }))

testLogState('in files', (name) => {
  mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
  return openFileLogState(join(folder, name, 'log.json'))
})

test('a damaged file, or one that others can write, is no first contact', async () => {
  const file = join(folder, 'damaged.json')
  const store = openFileLogState(file)
  await store.replace(undefined, state('one'))
  const content = readFileSync(file, 'utf8')
  for (const wrong of ['', '{', content.replace('"version": 1', '"version": 2')]) {
    writeFileSync(file, wrong)
    await assert.rejects(store.read(), { code: 'log_state_unreadable' })
    await assert.rejects(store.replace(undefined, state('two')), { code: 'log_state_unreadable' })
  }
  writeFileSync(file, content)
  chmodSync(file, 0o666)
  await assert.rejects(store.read(), { code: 'log_state_unreadable' })
})

test('every split view gets a file of its own', async () => {
  const store = openFileLogState(join(folder, 'log.json'))
  const view = {
    format: 'aex-split-view/1',
    key: 'k',
    first: 'a',
    second: 'b',
    found_at: '2026-01-02T03:04:05.000Z',
  } as const
  const files = [await store.keepSplitView(view), await store.keepSplitView(view)]
  assert.equal(new Set(files).size, 2)
  assert.deepEqual(JSON.parse(readFileSync(files[0] ?? '', 'utf8')), view)
  assert.equal(readdirSync(folder).filter((name) => name.startsWith('split-view-20260102030405-')).length, 2)
})

test('a checkpoint without a proof survives the process until the log is checked again', async () => {
  const file = join(folder, 'log.json')
  const since = '2026-01-02T03:04:05.000Z'
  const trouble = { since, reason: 'out of reach', unproved: { note: 'n', since, failures: 2, file: 'f' } }
  await openFileLogState(file).writeTrouble(trouble)
  assert.deepEqual(await openFileLogState(file).readTrouble(), trouble)
  writeFileSync(join(folder, 'log-trouble.json'), '{}')
  await assert.rejects(openFileLogState(file).readTrouble(), { code: 'log_state_unreadable' })
  await openFileLogState(file).writeTrouble(undefined)
  assert.equal(await openFileLogState(file).readTrouble(), undefined)
})
