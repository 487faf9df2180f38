import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { parseWorkingFolders, processTools, procfs } from './processes.ts'

const tables = [
  ['ps', processTools, existsSync('/bin/ps') || existsSync('/usr/bin/ps')],
  ['/proc', procfs, existsSync('/proc/self/stat')],
] as const

for (const [name, table, isHere] of tables) {
  test(
    `${name} tells a live process from one that ended`,
    { skip: !isHere && `no ${name} here` },
    async () => {
      const child = spawn('sleep', ['60'])
      await once(child, 'spawn')
      const pid = child.pid ?? 0
      const started = table.start(pid)
      assert.ok(started)
      assert.ok(!/\s/u.test(started), 'it fits into the one line of a lock file')
      assert.equal(table.start(pid), started)
      child.kill()
      await once(child, 'exit')
      assert.equal(table.start(pid), undefined)
    },
  )
}

test('the working folders of processes are read from what lsof prints', () => {
  const output = 'p71\nfcwd\nn/private/data/postgres/cluster\np72\nfcwd\nn/private/other\n'
  assert.deepEqual(parseWorkingFolders(output), [
    { pid: 71, path: '/private/data/postgres/cluster' },
    { pid: 72, path: '/private/other' },
  ])
  assert.deepEqual(parseWorkingFolders(''), [])
})
