import { createHash, randomBytes } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import { readConfiguration } from '../configuration.ts'
import type { CheckResult } from '../run/check.ts'
import type { OpenPoints } from '../run/context.ts'
import { readState, writeState } from '../run/state-file.ts'
import { SERVICE_CHECKS } from '../service/checks/index.ts'
import { judgeService } from '../service/judge-service.ts'
import { finishedReport, type JudgeCommand, progressOf, wantedChecks } from './judge-command.ts'
import { wholeNumber } from './options.ts'

const DIGEST_LENGTH = 12

/** Two services with the same decisions have the same name. */
function profileName(openPoints: OpenPoints): string {
  if (Object.keys(openPoints).length === 0) return 'unpublished'
  return createHash('sha256').update(canonicalize(openPoints)).digest('hex').slice(0, DIGEST_LENGTH)
}

/** `aex-conformance service BASE_URL --config FILE` */
export const SERVICE_COMMAND: JudgeCommand = {
  options: ['config', 'state', 'seed', 'concurrency', 'pace', 'timeout'],
  async judge(input) {
    const { values, requirements } = input
    const [baseUrl] = input.words
    if (baseUrl === undefined || values.config === undefined)
      throw new Error(
        'Name the address of the service and a file: aex-conformance service BASE_URL --config FILE',
      )
    const configured = readConfiguration(values.config, baseUrl)
    const { state: file } = values
    const before = file === undefined ? undefined : readState(file, configured.baseUrl, values.seed)
    const service = { ...configured, ...(before?.clockAhead && { clockAhead: before.clockAhead }) }
    const seed = values.seed ?? before?.seed ?? randomBytes(8).toString('hex')
    const run = (before?.runs ?? 0) + 1
    const kept: CheckResult[] = [...(before?.results ?? [])]
    const progress = progressOf(input)
    let profile = configured.profile
    const results = await judgeService(service, {
      checks: wantedChecks(SERVICE_CHECKS, requirements),
      seed,
      run,
      // What could not be judged is tried again.
      done: kept.filter(({ verdict }) => verdict !== 'error'),
      ...(before?.examined && { examined: before.examined }),
      ...(values.concurrency !== undefined && {
        concurrency: wholeNumber(values.concurrency, '--concurrency'),
      }),
      ...(values.timeout !== undefined && { timeoutMs: wholeNumber(values.timeout, '--timeout') }),
      ...(values.pace !== undefined && { requestsPerSecond: wholeNumber(values.pace, '--pace') }),
      onOpenPoints: (openPoints) => (profile ??= profileName(openPoints)),
      onResult: (result, progressOfRun) => {
        kept.push(result)
        const { baseUrl: judged } = service
        if (file !== undefined)
          writeState(file, { baseUrl: judged, seed, runs: run, results: kept, ...progressOfRun })
        progress(result)
      },
    })
    return finishedReport('service', service.baseUrl, seed, results, requirements, profile)
  },
}
