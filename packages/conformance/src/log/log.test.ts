import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckResult } from '../run/check.ts'
import { LOG_MUTANTS } from '../../mutants/of-logs.ts'
import { LOG_CHECKS } from './checks.ts'
import { judgeLog } from './judge-log.ts'
import { type MemoryLog, memoryLog } from './memory-log.fixture.ts'

/** Three levels would need 65,536 leaves; two full tiles and a partial one show every rule. */
const SIZE = 600
const settings = { seed: 'test', patienceMs: 1_000 }

const judge = async (log: MemoryLog, read = log.read) => {
  let isFirst = true
  // The log grows between the first checkpoint and the later one.
  const growing: typeof read = (path) => {
    if (path === 'checkpoint' && !isFirst) log.growBy = 300
    isFirst &&= path !== 'checkpoint'
    return read(path)
  }
  return (await judgeLog({ ...settings, policy: log.policy, read: growing })).results
}
const reasonOf = (results: readonly CheckResult[], name: string) =>
  results.find((result) => result.name === name && result.verdict === 'fail')?.reason

test('[AUD-03] a right log passes every check', async () => {
  const results = await judge(await memoryLog(SIZE))
  assert.deepEqual(
    results.map(({ name, verdict, reason }) => `${name} ${verdict}${reason ? `: ${reason}` : ''}`),
    LOG_CHECKS.map(({ name }) => `${name} pass`),
  )
})

for (const { check, does, mutate } of LOG_MUTANTS)
  test(`[AUD-03] a log that ${does} is found by ${check}`, async () => {
    const log = await memoryLog(SIZE)
    assert.ok(reasonOf(await judge(log, mutate()(log.read)), check))
  })

test('[AUD-03] a log that was rewritten is found by log/continues, from a checkpoint of an earlier run', async () => {
  const log = await memoryLog(SIZE)
  const { checkpoint } = await judgeLog({ ...settings, patienceMs: 0, policy: log.policy, read: log.read })
  await log.rewrite()
  const { results } = await judgeLog({
    ...settings,
    policy: log.policy,
    read: log.read,
    earlier: checkpoint,
  })
  assert.match(reasonOf(results, 'log/continues') ?? '', /the log was rewritten/)
})

test('[AUD-03] every check of a log has a broken log that it finds', () => {
  const found = new Set([...LOG_MUTANTS.map(({ check }) => check), 'log/continues'])
  assert.deepEqual(
    LOG_CHECKS.map(({ name }) => name).filter((name) => !found.has(name)),
    [],
  )
})

test('a log that does not grow is not judged by growth', async () => {
  const log = await memoryLog(SIZE)
  const { results } = await judgeLog({ ...settings, patienceMs: 0, policy: log.policy, read: log.read })
  assert.equal(results.find(({ name }) => name === 'log/continues')?.verdict, 'skipped')
})
