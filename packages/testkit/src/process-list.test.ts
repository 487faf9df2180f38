import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fromPs, listProcesses } from './process-list.ts'

const hasPs = existsSync('/bin/ps') || existsSync('/usr/bin/ps')

test('this process is listed with its parent, by /proc and by ps', () => {
  for (const list of hasPs ? [listProcesses, fromPs] : [listProcesses]) {
    const own = list().find(({ pid }) => pid === process.pid)
    assert.equal(own?.parent, process.ppid)
    assert.match(own.command, /node/u)
  }
})
