import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeAbandonedServers } from './abandoned-servers.ts'

test('folders of runs that have ended are removed, and no others', () => {
  const parent = mkdtempSync(join(tmpdir(), 'aex-abandoned-'))
  try {
    const { pid: ended } = spawnSync(process.execPath, ['--version'])
    const folder = (name: string, lock?: string) => {
      mkdirSync(join(parent, name))
      if (lock !== undefined) writeFileSync(join(parent, name, 'lock'), lock)
    }
    folder('run-ended', `${ended} 1\n`)
    folder('run-alive', `${process.pid} 1\n`)
    folder('run-starting')
    folder('other-ended', `${ended} 1\n`)
    removeAbandonedServers(parent, 'run-')
    assert.deepEqual(readdirSync(parent).toSorted(), ['other-ended', 'run-alive', 'run-starting'])
  } finally {
    rmSync(parent, { recursive: true })
  }
})
