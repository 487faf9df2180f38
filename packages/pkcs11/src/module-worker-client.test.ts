import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeModule } from './fake-module.fixture.ts'
import { ModuleError } from './module-error.ts'
import type { CallObserver } from './module-worker-client.ts'
import { MAXIMUM_CALLS_IN_FLIGHT, MAXIMUM_HUNG_THREADS } from './pkcs11-limits.ts'

const data = Uint8Array.of(1)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ModuleError ? error.code : String(error)),
  )

test('threads that hang end their calls, are limited, stop no event loop, and make room when the module returns', async () => {
  const seen: Parameters<CallObserver>[0][] = []
  const timeoutMs = 300
  await using fake = fakeModule({ timeoutMs, onCall: (call) => seen.push(call) })
  const { privateKey } = await fake.keys.generate({ use: 'signing', label: 'a' })
  fake.change({ isHanging: true })
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 10)
  for (let thread = 0; thread < MAXIMUM_HUNG_THREADS; thread += 1)
    assert.equal(await codeOf(privateKey.sign(data)), 'module_timeout')
  assert.ok(ticks > MAXIMUM_HUNG_THREADS, `${ticks} ticks`)
  clearInterval(timer)
  assert.ok(seen.slice(1).every(({ failure, seconds }) => failure === 'module_timeout' && seconds >= 0.2))
  assert.equal(await codeOf(privateKey.sign(data)), 'module_timeout')
  const refused = seen.at(-1)
  assert.ok(refused && refused.seconds * 1_000 < timeoutMs, 'it is refused at once')
  fake.change({ isHanging: false })
  const end = performance.now() + 20_000
  while ((await codeOf(privateKey.sign(data))) !== 'ok') {
    assert.ok(performance.now() < end, 'not in time')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})

test('the queue is bounded, calls are answered in order, and a closed module refuses them', async () => {
  const fake = fakeModule({ maximumQueued: 4 })
  const { privateKey } = await fake.keys.generate({ use: 'signing', label: 'a' })
  const order: number[] = []
  const calls = Array.from({ length: MAXIMUM_CALLS_IN_FLIGHT + 6 }, async (_, index) => {
    const result = await codeOf(privateKey.sign(data))
    if (result === 'ok') order.push(index)
    return result
  })
  const served = Array.from({ length: MAXIMUM_CALLS_IN_FLIGHT + 4 }, () => 'ok')
  assert.deepEqual(await Promise.all(calls), [...served, 'module_busy', 'module_busy'])
  assert.deepEqual(order, [...served.keys()])
  const waiting = codeOf(privateKey.sign(data))
  await fake[Symbol.asyncDispose]()
  assert.equal(await waiting, 'module_closed')
  assert.equal(await codeOf(privateKey.sign(data)), 'module_closed')
})
