import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_CHECKS } from '../../packages/conformance/src/service/checks/index.ts'
import type { Check, CheckResult } from '../../packages/conformance/src/run/check.ts'
import { judgeService, type ServiceUnderTest } from '../../packages/conformance/src/service/judge-service.ts'
import { MUTANTS } from '../../packages/conformance/mutants/index.ts'
import type { Mutant } from '../../packages/conformance/mutants/mutant.ts'
import { verdictFor } from '../../packages/conformance/src/run/verdicts.ts'
import type { Transport } from '../../packages/conformance/src/wire/wire.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { type OwnService, PACE, startOwnService } from './own-service.ts'

/** Our service shows at once what it accepted. */
const PATIENCE_MS = 500

/** Checks that leave out one of two ways to the same judgement, because a hook opens the other one. */
const BY_CLOCK = ['webhooks/first-three-attempts', 'webhooks/results', 'webhooks/retry-after']

/** Need a certificate, or a process that can be restarted: judged by the parts `certificates` and `embedded`. */
const ELSEWHERE = ['authentication/certificate-binding', 'restart/state']

/** Every check that can run with all hooks passes, and none is skipped. */
const passes = async (service: OwnService, seed: string): Promise<string> =>
  allPass(await service.underTest(), seed, [...BY_CLOCK, ...ELSEWHERE])

/** Every check passes except those that are known to be skipped. */
export async function allPass(
  underTest: ServiceUnderTest,
  seed: string,
  skipped: readonly string[],
): Promise<string> {
  const results = await judgeService(underTest, { checks: SERVICE_CHECKS, seed, requestsPerSecond: PACE })
  const isExpected = ({ name, verdict }: CheckResult) =>
    verdict === 'pass' || (verdict === 'skipped' && skipped.includes(name))
  assert.deepEqual(
    results
      .filter((result) => !isExpected(result))
      .map(({ name, verdict, reason }) => `${name} ${verdict}: ${reason}`),
    [],
  )
  return `${results.length - skipped.length} checks passed`
}

const tryProfile =
  (name: 'narrow' | 'wide') =>
  async ({ report }: TrialTools): Promise<void> => {
    await report.step('service', `our service passes, ${name} profile`, async () => {
      const file = join(import.meta.dirname, 'profiles', `${name}.json`)
      const profile = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
      await using service = await startOwnService({ profile })
      return await passes(service, name)
    })
  }

/** As little accepted, told and recorded as a deployment can choose, and as much. */
export const tryNarrowProfile = tryProfile('narrow')
export const tryWideProfile = tryProfile('wide')

const TEN = 10

/** One configuration, so one set of organizations, for all runs: nothing of a run may disturb a later one. */
export async function tryTenRuns({ report }: TrialTools): Promise<void> {
  await using service = await startOwnService()
  const configured = await service.underTest()
  for (let run = 1; run <= TEN; run++)
    await report.step('service', `our service passes, run ${run} of one configuration`, async () => {
      const { clockAhead = 0 } = await service.underTest()
      return allPass({ ...configured, clockAhead }, `run ${run}`, [...BY_CLOCK, ...ELSEWHERE])
    })
}

/** Choices that differ from what the kit would send without knowing them. */
const UNUSUAL = {
  'O-17': { content_digest_rules: ['ciphertext-bytes'] },
  'O-22': { accepted_forms: ['plain'] },
}
const isOfReceipts = ({ name }: Check) => ['packages/accepted', 'packages/receipt-states'].includes(name)

/** A service that does not publish how it decides: the kit finds out what it has to know. */
async function passesUnpublished(): Promise<string> {
  await using service = await startOwnService({ profile: UNUSUAL })
  const hidden =
    (send: Transport): Transport =>
    (request) =>
      send({ ...request, url: request.url.replace(/\/openapi\.json$/u, '/nothing.json') })
  const results = await judgeService(await service.underTest(), {
    checks: SERVICE_CHECKS.filter(isOfReceipts),
    seed: 'unpublished',
    mutate: hidden,
    requestsPerSecond: PACE,
  })
  assert.deepEqual(
    results.map(({ verdict, reason }) => [verdict, reason]),
    results.map(() => ['pass', undefined]),
  )
  const notes = new Set(results.flatMap(({ openPoints }) => openPoints.map(({ observed }) => observed)))
  assert.ok(notes.has('content_digest: ciphertext-bytes') && notes.has('signatures of receipts: plain'))
  return `${results.length} checks passed`
}

export async function tryService({ report }: TrialTools): Promise<void> {
  await report.step('service', 'our service passes, decisions unpublished', passesUnpublished)
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

async function isFound(service: OwnService, mutant: Mutant, number: number): Promise<string> {
  const { id, check, mutate, alter, answer } = mutant
  const broken = { ...(alter && { alter: alter() }), ...(answer && { answer }) }
  const results = await judgeService(await service.underTest(broken), {
    checks: SERVICE_CHECKS.filter(({ ids, name }) => ids.includes(id) && name === (check ?? name)),
    patienceMs: PATIENCE_MS,
    seed: `mutant ${number}`,
    requestsPerSecond: PACE,
    ...(mutate && { mutate: mutate() }),
  })
  const found = results.find((result) => verdictFor(id, result) === 'fail')
  assert.ok(found, `no check of ${id} found it: ${results.map(({ name }) => name).join(', ')}`)
  return found.reason ?? ''
}
