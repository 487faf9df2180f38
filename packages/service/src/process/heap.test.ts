import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { HEAP_FLAGS } from './heap.ts'

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { encoding: 'utf8' })
}

test('this Node.js knows every flag that the heap is tuned by', () => {
  const known = node('--v8-options')
  for (const flag of HEAP_FLAGS) {
    const name = flag.replace(/=.*/u, '').replace('--no-', '--')
    assert.match(known, new RegExp(`^ +${name} `, 'mu'), name)
  }
})

/** Compiles a function for a shape, and collects the heap several times while no object has that shape. */
const WORK_AND_REST = `
  import { setTimeout as sleep } from 'node:timers/promises'
  const sum = ({ a, b, c }) => a + b + c
  const work = () => {
    for (let i = 0; i < 200_000; i++) sum(JSON.parse('{"a":' + i + ',"b":2,"c":3}'))
  }
  work()
  await sleep(50)
  for (let i = 0; i < 8; i++) gc()`

function afterARest(before: string): string {
  const script = `${before}\n${WORK_AND_REST}`
  return node('--expose-gc', '--trace-deopt', '--input-type=module', '-e', script)
}

test('compiled code outlives a rest, which it does not by default', () => {
  const lost = /SharedFunctionInfo sum>.*weak objects cleared/u
  const heap = new URL('heap.ts', import.meta.url).href
  assert.match(afterARest(''), lost)
  assert.doesNotMatch(afterARest(`import { tuneHeap } from ${JSON.stringify(heap)}\ntuneHeap()`), lost)
})
