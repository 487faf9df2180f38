import assert from 'node:assert/strict'
import { join } from 'node:path'
import { findTools } from '../../interop/curl-agent/trial/tools.ts'
import { carelessAgent } from '../../packages/conformance/src/agent/careless-agent.fixture.ts'
import { AGENT_CHECKS } from '../../packages/conformance/src/agent/checks/index.ts'
import { type AgentSession, startAgentSession } from '../../packages/conformance/src/agent/judge-agent.ts'
import { type AgentMutant, AGENT_MUTANTS } from '../../packages/conformance/mutants/of-agents.ts'
import { reportOf } from '../../packages/conformance/src/report/report.ts'
import { REQUIREMENTS } from '../../packages/conformance/src/requirements/index.ts'
import { startLineProcess } from '../../packages/conformance/src/run/line-process.ts'
import { verdictFor } from '../../packages/conformance/src/run/verdicts.ts'
import { Skipped } from '../shared/report.ts'
import type { TrialTools } from '../shared/trial-parts.ts'

const driver = (name: string) => join(import.meta.dirname, 'agents', `${name}.ts`)
const command = (name: string, folder: string) => [
  process.execPath,
  '-C',
  'source',
  driver(name),
  join(folder, name),
]

/** Our agents pass, and each mutant of the agent of the SDK is found by its check. */
export async function tryAgents({ report, folder }: TrialTools): Promise<void> {
  await report.step('agent', 'an agent of the SDK passes', () => passes('sdk-agent', folder, []))
  await report.step('agent', 'an agent in a gateway passes', () => passes('gateway-agent', folder, []))
  await report.step('agent', 'the receiver and opener in Python pass', () =>
    withTools(() => passes('python-agent', folder, ['poll', 'handled'])),
  )
  await report.step('agent', 'the agent of curl and openssl passes', () =>
    withTools(() => passes('curl-agent', folder, ['listen', 'refresh_keys'], OF_CURL)),
  )
}

/** An agent that opens everything: the second planted implementation. */
export async function tryCarelessAgent({ report }: TrialTools): Promise<void> {
  await report.step('agent', 'an agent that opens everything fails by its ids', async () => {
    await using process = carelessAgent()
    await using session = await startAgentSession({ process, seed: 'careless' })
    const results = await session.run({ checks: AGENT_CHECKS })
    const judged = reportOf({
      subject: 'agent',
      judged: 'the careless agent',
      version: '0.1.0',
      seed: 'careless',
      finishedAt: new Date().toISOString(),
      requirements: REQUIREMENTS,
      results,
    })
    const failed = judged.verdicts.filter(({ verdict }) => verdict === 'fail')
    assert.deepEqual(failed.map(({ requirement: { id } }) => id).toSorted(), CARELESS)
    return CARELESS.join(' ')
  })
}

/** It refuses no package, whatever is wrong with it, and sends no receipt. */
const CARELESS =
  'ID-05 OBJ-01 OBJ-03 OBJ-04 OBJ-05 OBJ-11 OBJ-13 OBJ-15 OBJ-16 OBJ-19 PKG-01 PKG-02 PKG-08 POL-01 POL-03 POL-04'.split(
    ' ',
  )

export async function tryAgentMutants({ report, folder }: TrialTools): Promise<void> {
  await using agent = startLineProcess(command('sdk-agent', join(folder, 'mutants')))
  await using session = await startAgentSession({ process: agent, seed: 'mutants' })
  for (const [number, mutant] of AGENT_MUTANTS.entries())
    await report.step(mutant.id, mutant.does, () => isFound(session, mutant, number))
  await report.step('agent', 'the agent passes after all mutants', () => allPass(session))
}

/** Each command of the agent of curl starts many processes, so it is judged by a few packages. */
const OF_CURL = (name: string) =>
  name.startsWith('agent/stream/') ||
  name.startsWith('agent/requests/') ||
  ['opens/usual', 'refuses/digest', 'refuses/score', 'refuses/no-policy'].some((each) => name.endsWith(each))

async function withTools(step: () => Promise<string>): Promise<string> {
  const tools = findTools()
  if ('missing' in tools) throw new Skipped(`there is no ${tools.missing}`)
  return step()
}

async function passes(
  name: string,
  folder: string,
  unsupported: readonly string[],
  isWanted: (name: string) => boolean = () => true,
): Promise<string> {
  await using agent = startLineProcess(command(name, folder))
  await using session = await startAgentSession({ process: agent, seed: name })
  return await allPass(session, unsupported, isWanted)
}

/** Checks are skipped only for commands that the agent is known not to support. */
async function allPass(
  session: AgentSession,
  unsupported: readonly string[] = [],
  isWanted: (name: string) => boolean = () => true,
): Promise<string> {
  const results = await session.run({ checks: AGENT_CHECKS.filter(({ name }) => isWanted(name)) })
  const known = new Set(unsupported.map((each) => `the driver does not support ${each}`))
  const isExpected = (verdict: string, reason = '') =>
    verdict === 'pass' || (verdict === 'skipped' && known.has(reason))
  assert.deepEqual(
    results
      .filter(({ verdict, reason }) => !isExpected(verdict, reason))
      .map(({ name, verdict, reason }) => `${name} ${verdict}: ${reason}`),
    [],
  )
  const passed = results.filter(({ verdict }) => verdict === 'pass').length
  return `${passed} checks passed, ${results.length - passed} skipped`
}

async function isFound(
  session: AgentSession,
  { id, check, mutation }: AgentMutant,
  number: number,
): Promise<string> {
  const checks = AGENT_CHECKS.filter(({ name }) => name === check)
  const [result] = await session.run({ checks, name: `mutant ${number}`, mutation: mutation() })
  assert.ok(result && verdictFor(id, result) === 'fail', `${check} did not find it: ${result?.verdict}`)
  return result.reason ?? ''
}
