import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuSeconds, foreignShare, readCpu } from './cpu.ts'
import { residentMegabytes } from './tree.ts'

test('CPU time of other processes is foreign, as a share of all cores', () => {
  const from = { all: 1_000, busy: 400, own: 100 }
  assert.equal(foreignShare(from, { all: 1_200, busy: 500, own: 180 }), 0.1)
  assert.equal(foreignShare(from, { all: 1_200, busy: 500, own: 250 }), 0, 'never less than nothing')
  assert.equal(foreignShare(from, from), 0)
})

test('our own CPU time is not foreign', () => {
  const before = readCpu()
  const seconds = cpuSeconds([process.pid])
  const until = performance.now() + 300
  let sum = 0
  while (performance.now() < until) sum += Math.sqrt(sum + 1)
  const after = readCpu()
  if (!before || !after) return
  assert.ok(after.own > before.own)
  assert.ok(after.all > before.all)
  assert.ok(cpuSeconds([process.pid]) - seconds > 0.01, 'some of the 300 ms were ours')
})

test('this process has memory', () => {
  const megabytes = residentMegabytes(process.pid)
  assert.ok(megabytes > 10 && megabytes < 4_096, String(megabytes))
})
