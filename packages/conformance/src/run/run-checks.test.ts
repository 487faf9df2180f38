import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Check } from './check.ts'
import { Finding, NotJudged } from './finding.ts'
import { commandHook } from './hooks.ts'
import { type CheckScope, runChecks } from './run-checks.ts'

const checkOf = (name: string, run: (scope: CheckScope) => Promise<void>): Check<CheckScope> => ({
  name,
  ids: ['API-01'],
  title: name,
  run,
})

async function verdictsOf(checks: readonly Check<CheckScope>[], timeoutMs?: number) {
  const options = { checks, contextOf: (_: unknown, scope: CheckScope) => scope }
  const results = await runChecks({ ...options, ...(timeoutMs !== undefined && { timeoutMs }) })
  return results.map(({ verdict, reason }) => [verdict, reason])
}

test('only a finding is a failure: a hook, a lost connection and a fault of the kit are errors', async () => {
  const secret = ['-e', 'console.error("password hunter2"); process.exit(1)', '--', '--token=hunter2']
  const hook = commandHook('replay_delivery', [process.execPath, ...secret])
  assert.deepEqual(
    await verdictsOf([
      checkOf('finding', () => Promise.reject(new Finding('wrong'))),
      checkOf('not judged', () => Promise.reject(new NotJudged('no such thing'))),
      checkOf('connection', () => Promise.reject(new Error('read ECONNRESET'))),
      checkOf('kit', () => Promise.reject(new TypeError('x is undefined'))),
      checkOf('hook', () => hook({})),
    ]),
    [
      ['fail', 'wrong'],
      ['skipped', 'no such thing'],
      ['error', 'read ECONNRESET'],
      ['error', 'x is undefined'],
      ['error', 'the hook replay_delivery ended with exit code 1'],
    ],
  )
})

test('a check whose time is over is stopped, and the limit follows from that of a request', async () => {
  let signal: AbortSignal | undefined
  const forever = checkOf('forever', (scope) => {
    ;({ signal } = scope)
    return new Promise(() => undefined)
  })
  assert.deepEqual(await verdictsOf([forever], 5), [['error', 'no result within 0.04 s']])
  assert.throws(() => signal?.throwIfAborted(), /no result within/u)
})
