import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ExchangeError } from '../errors.ts'
import type { MonitorState } from '../monitor/monitor-state.ts'
import { readMonitorState, writeMonitorState } from './file-monitor-state.ts'
import { writePrivateFile } from './private-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-monitor-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'monitor.json')

test('the state of the monitor is kept as it was written', async () => {
  assert.deepEqual(await readMonitorState(join(folder, 'none.json')), { threads: [], found: [] })
  const state: MonitorState = {
    threads: ['thread_1'],
    found: [['ab', 7]],
    searched: [['pkg_1', 3]],
    waiting: [['cd', '2026-06-01T08:00:00Z']],
  }
  await writeMonitorState(file, state)
  assert.deepEqual(await readMonitorState(file), state)
})

test('pairs that hold something else are refused: they would hide a leaf from the monitor', async () => {
  for (const found of [[['ab', '7']], [['ab']], [['ab', 7, 8]], [[7, 'ab']]]) {
    await writePrivateFile(file, JSON.stringify({ threads: [], found }))
    await assert.rejects(
      readMonitorState(file),
      (error) => error instanceof ExchangeError && error.code === 'log_state_unreadable',
      JSON.stringify(found),
    )
  }
})
