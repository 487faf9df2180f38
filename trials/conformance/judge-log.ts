import assert from 'node:assert/strict'
import { formatVerifierKey, parsePolicy, parseVerifierKey } from '@agent-exchange/log'
import type { World } from '@agent-exchange/testkit'
import { until } from '@agent-exchange/testkit/until'
import { LOG_MUTANTS } from '../../packages/conformance/mutants/of-logs.ts'
import { judgeLog } from '../../packages/conformance/src/log/judge-log.ts'
import { type ReadLog, wireLog } from '../../packages/conformance/src/log/read-log.ts'
import { httpTransport } from '../../packages/conformance/src/wire/http-transport.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { startOwnService } from './own-service.ts'

/** A published log without witnesses, whose checkpoints do not let a person wait. */
const PROFILE = {
  'O-07': {
    transparency_public: true,
    transparency_checkpoint_milliseconds: 200,
    transparency_sequence_milliseconds: 50,
  },
}
const TIMEOUT_MS = 15_000
/** What a small log without witnesses cannot show; the unit tests of the kit break these rules too. */
const NOT_HERE = new Set(['log/witnesses', 'log/tiles'])

/** The log of our service passes while it grows, and broken ones are found. */
export async function tryLog({ report }: TrialTools): Promise<void> {
  await using service = await startOwnService({ profile: PROFILE })
  const { world } = service
  using send = httpTransport({ timeoutMs: TIMEOUT_MS, concurrency: 1 })
  const read = wireLog(`${world.url}/log`, send)
  await report.step('log', 'the log of our service passes while it grows', async () => {
    const results = await judge(world, read)
    assert.deepEqual(
      results
        .filter(
          ({ name, verdict }) => verdict === 'fail' || (verdict === 'skipped' && name !== 'log/witnesses'),
        )
        .map(({ name, verdict, reason }) => `${name} ${verdict}: ${reason}`),
      [],
    )
    return `${results.length - 1} checks passed`
  })
  for (const { check, does, mutate } of LOG_MUTANTS.filter((each) => !NOT_HERE.has(each.check)))
    await report.step('log', does, async () => {
      const results = await judge(world, mutate()(read))
      const found = results.find(({ name, verdict }) => name === check && verdict === 'fail')
      assert.ok(found, `${check} did not find it`)
      return found.reason ?? ''
    })
}

/** Registers an agent before, so that the log has leaves, and one meanwhile, so that it grows. */
async function judge(world: World, read: ReadLog) {
  await world.organization(nextName())
  const answer = (await (await fetch(`${world.url}/log/key`)).json()) as { verifier_keys: [string] }
  const key = formatVerifierKey(parseVerifierKey(answer.verifier_keys[0]))
  await until('a checkpoint', async () => (await read('checkpoint')).status === 200)
  const judging = judgeLog({ read, policy: parsePolicy(`log ${key}\nquorum none\n`), seed: 'own log' })
  await world.organization(nextName())
  return (await judging).results
}

let organizations = 0
const nextName = () => `log${(organizations += 1)}`
