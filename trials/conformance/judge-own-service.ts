import assert from 'node:assert/strict'
import { SERVICE_CHECKS } from '../../packages/conformance/src/service/checks/index.ts'
import { judgeService } from '../../packages/conformance/src/service/judge-service.ts'
import { MUTANTS } from '../../packages/conformance/src/mutants/index.ts'
import type { Mutant } from '../../packages/conformance/src/mutants/mutant.ts'
import { verdictFor } from '../../packages/conformance/src/run/verdicts.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { type OwnService, PACE, startOwnService } from './own-service.ts'

/** Checks that leave out one of two ways to the same judgement, because a hook opens the other one. */
const BY_CLOCK = ['webhooks/first-three-attempts', 'webhooks/results']

/** Need a certificate, or a process that can be restarted: judged by the parts `certificates` and `embedded`. */
const ELSEWHERE = ['authentication/certificate-binding', 'restart/state']

/** Every check that can run with all hooks passes, and none is skipped. */
async function passes(service: OwnService, seed: string): Promise<string> {
  const underTest = await service.underTest()
  const results = await judgeService(underTest, { checks: SERVICE_CHECKS, seed, requestsPerSecond: PACE })
  const expected = [...BY_CLOCK, ...ELSEWHERE]
  const wrong = results.filter(({ name, verdict }) => verdict !== 'pass' && !expected.includes(name))
  assert.deepEqual(
    wrong.map(({ name, verdict, reason }) => `${name} ${verdict}: ${reason}`),
    [],
  )
  return `${results.length - expected.length} checks passed`
}

export async function tryService({ report }: TrialTools): Promise<void> {
  await report.step('service', 'our service passes, default profile', async () => {
    await using service = await startOwnService()
    return await passes(service, 'default')
  })
}

/** Each mutant is found by a check of its own id, and without it the same service passes, before and after. */
export async function tryMutants({ report }: TrialTools): Promise<void> {
  await using service = await startOwnService()
  for (const [number, mutant] of MUTANTS.entries())
    await report.step(mutant.id, mutant.does, () => isFound(service, mutant, number))
  await report.step('service', 'our service passes after all mutants', () => passes(service, 'after mutants'))
}

async function isFound(service: OwnService, { id, mutate, alter }: Mutant, number: number): Promise<string> {
  const results = await judgeService(await service.underTest(alter?.()), {
    checks: SERVICE_CHECKS.filter(({ ids }) => ids.includes(id)),
    seed: `mutant ${number}`,
    requestsPerSecond: PACE,
    ...(mutate && { mutate: mutate() }),
  })
  const found = results.find((result) => verdictFor(id, result) === 'fail')
  assert.ok(found, `no check of ${id} found it: ${results.map(({ name }) => name).join(', ')}`)
  return found.reason ?? ''
}
