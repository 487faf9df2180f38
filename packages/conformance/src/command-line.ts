import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AGENT_CHECKS } from './agent/checks/index.ts'
import { startAgentSession } from './agent/judge-agent.ts'
import { judgeCapsules } from './capsules/judge-capsules.ts'
import { readConfiguration } from './configuration.ts'
import { judgeObjects } from './objects/judge-objects.ts'
import { htmlOf } from './report/html.ts'
import { junitOf } from './report/junit.ts'
import { isPassed, type Report, reportOf } from './report/report.ts'
import { tableOf } from './report/table.ts'
import { REQUIREMENTS } from './requirements/index.ts'
import type { Requirement, Subject } from './requirements/requirement.ts'
import type { CheckResult } from './run/check.ts'
import { startLineProcess } from './run/line-process.ts'
import { readState, writeState } from './run/state-file.ts'
import { SERVICE_CHECKS } from './service/checks/index.ts'
import { judgeService } from './service/judge-service.ts'

const HELP = `Judges an implementation of the Agent Exchange protocol from outside, by requirement ids.

  aex-conformance service BASE_URL --config FILE   a running service, with three organizations
  aex-conformance agent -- COMMAND [WORD...]       an agent, through a driver that reads one command a line
  aex-conformance objects -- COMMAND [WORD...]     a validator, which reads one object a line
  aex-conformance capsules -- COMMAND [WORD...]    a verifier of capsules, which reads one capsule a line
  aex-conformance list                             every requirement, and of whom it is judged

  --only ID        judge these requirements only, such as PKG-09; may be repeated
  --json FILE      write the report as JSON      --junit FILE   as JUnit XML      --html FILE   as a page
  --state FILE     keep results there, and continue from them in the next run
  --listen HOST:PORT  where the scripted exchange for an agent listens; a free port of 127.0.0.1 by default
  --seed TEXT      decides all ids of a run; a new one by default
  --concurrency N  connections at a time, 8 by default      --timeout MS   of a request, 15000 by default

Exit codes: 0 nothing failed, 1 a requirement failed, 2 the run was not possible.`

const OPTIONS = {
  config: { type: 'string' },
  only: { type: 'string', multiple: true },
  json: { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
  state: { type: 'string' },
  seed: { type: 'string' },
  concurrency: { type: 'string' },
  timeout: { type: 'string' },
  listen: { type: 'string' },
  vectors: { type: 'string' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

interface Output {
  readonly log: (line: string) => void
  readonly error: (line: string) => void
  readonly colors: boolean
}

/** Returns the exit code. */
export async function runCommand(given: readonly string[], output: Output): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...given], options: OPTIONS, allowPositionals: true })
    const [subject, ...rest] = positionals
    if (values.help) return say(output, HELP)
    if (values.list || subject === 'list') return say(output, listOf(REQUIREMENTS))
    const judge = JUDGES[subject ?? '']
    if (!judge) throw new Error(HELP)
    const report = await judge(rest, values, wantedRequirements(values.only), output)
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
    if (values.junit !== undefined) writeFileSync(values.junit, junitOf(report))
    if (values.html !== undefined) writeFileSync(values.html, htmlOf(report))
    output.log(tableOf(report, output))
    return isPassed(report) ? 0 : 1
  } catch (error) {
    output.error(error instanceof Error ? error.message : String(error))
    return 2
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values']

type Judge = (
  words: readonly string[],
  values: Values,
  requirements: readonly Requirement[],
  output: Output,
) => Promise<Report>

async function serviceReport(
  [baseUrl]: readonly string[],
  values: Values,
  requirements: readonly Requirement[],
  output: Output,
): Promise<Report> {
  if (baseUrl === undefined || values.config === undefined)
    throw new Error(
      'Name the address of the service and a file: aex-conformance service BASE_URL --config FILE',
    )
  const service = readConfiguration(values.config, baseUrl)
  const { state: file } = values
  const before = file === undefined ? undefined : readState(file, service.baseUrl, values.seed)
  const seed = values.seed ?? before?.seed ?? randomBytes(8).toString('hex')
  const run = (before?.runs ?? 0) + 1
  const kept: CheckResult[] = [...(before?.results ?? [])]
  const checks = SERVICE_CHECKS.filter(({ ids }) => requirements.some(({ id }) => ids.includes(id)))
  const results = await judgeService(service, {
    checks,
    seed,
    run,
    done: kept,
    ...(values.concurrency !== undefined && { concurrency: numberOf(values.concurrency, '--concurrency') }),
    ...(values.timeout !== undefined && { timeoutMs: numberOf(values.timeout, '--timeout') }),
    onResult: (result) => {
      kept.push(result)
      if (file !== undefined) writeState(file, { baseUrl: service.baseUrl, seed, runs: run, results: kept })
      if (output.colors) output.error(`${result.verdict.padEnd(8)}${result.title}`)
    },
  })
  return finished('service', service.baseUrl, seed, results, requirements)
}

async function agentReport(
  command: readonly string[],
  values: Values,
  requirements: readonly Requirement[],
  output: Output,
): Promise<Report> {
  if (command.length === 0) throw new Error('Name the driver: aex-conformance agent -- COMMAND [WORD...]')
  const [host = '', port = ''] = values.listen?.split(':') ?? []
  if (values.listen !== undefined && (host === '' || !/^\d+$/u.test(port)))
    throw new Error('--listen needs an address and a port, such as 127.0.0.1:8080')
  const seed = values.seed ?? randomBytes(8).toString('hex')
  await using driver = startLineProcess(command)
  await using session = await startAgentSession({
    process: driver,
    seed,
    ...(values.listen !== undefined && { host, port: Number(port) }),
  })
  const results = await session.run({
    checks: AGENT_CHECKS.filter(({ ids }) => requirements.some(({ id }) => ids.includes(id))),
    onResult: ({ verdict, title }) => {
      if (output.colors) output.error(`${verdict.padEnd(8)}${title}`)
    },
  })
  return finished('agent', command.join(' '), seed, results, requirements)
}

/** Judges a program that answers lines, by the committed vectors. */
const programReport =
  (
    subject: 'objects' | 'capsules',
    folder: string,
    judge: (options: { command: readonly string[]; vectors: string }) => Promise<CheckResult[]>,
  ): Judge =>
  async (command, values, requirements) => {
    if (command.length === 0)
      throw new Error(`Name the program: aex-conformance ${subject} -- COMMAND [WORD...]`)
    const vectors = values.vectors ?? join(OWN_VECTORS, folder)
    if (!existsSync(vectors))
      throw new Error(`there are no vectors in ${vectors}: name their folder by --vectors`)
    const results = await judge({ command, vectors })
    const wanted = results.filter(({ ids }) => requirements.some(({ id }) => ids.includes(id)))
    return finished(subject, command.join(' '), 'none', wanted, requirements)
  }

/** The committed vectors of a checkout. */
const OWN_VECTORS = join(import.meta.dirname, '../../../interop/vectors')

const JUDGES: Readonly<Record<string, Judge>> = {
  service: serviceReport,
  agent: agentReport,
  objects: programReport('objects', 'objects', judgeObjects),
  capsules: programReport('capsules', '.', judgeCapsules),
}

function finished(
  subject: Report['subject'],
  judged: string,
  seed: string,
  results: readonly CheckResult[],
  requirements: readonly Requirement[],
): Report {
  const finishedAt = new Date().toISOString()
  return reportOf({ subject, judged, version: version(), seed, finishedAt, results, requirements })
}

function version(): string {
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

function wantedRequirements(only: readonly string[] | undefined): readonly Requirement[] {
  const unknown = only?.find((id) => REQUIREMENTS.every((requirement) => requirement.id !== id))
  if (unknown !== undefined)
    throw new Error(`there is no requirement ${unknown}: aex-conformance list names them`)
  return REQUIREMENTS.filter(({ id }) => only === undefined || only.includes(id))
}

function numberOf(text: string, option: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${option} needs a whole number above 0, not ${text}`)
  return value
}

const SUBJECT: Readonly<Record<Subject, string>> = {
  service: 'service',
  agent: 'agent',
  objects: 'validator',
  log: 'log',
  capsules: 'verifier of capsules',
}

function listOf(requirements: readonly Requirement[]): string {
  return requirements
    .map(({ id, sentence, judgedOf, unseen }) => {
      const whom =
        judgedOf.length > 0 ? judgedOf.map((each) => SUBJECT[each]).join(', ') : `nobody: ${unseen}`
      return `${id.padEnd(8)}${sentence} (${whom})`
    })
    .join('\n')
}

function say({ log }: Output, text: string): number {
  log(text)
  return 0
}
