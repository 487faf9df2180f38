import { randomBytes } from 'node:crypto'
import { readConfiguration } from '../configuration.ts'
import type { CheckResult } from '../run/check.ts'
import { readState, writeState } from '../run/state-file.ts'
import { SERVICE_CHECKS } from '../service/checks/index.ts'
import { judgeService } from '../service/judge-service.ts'
import { finishedReport, type JudgeCommand, progressOf, wantedChecks } from './judge-command.ts'
import { wholeNumber } from './options.ts'

/** `aex-conformance service BASE_URL --config FILE` */
export const SERVICE_COMMAND: JudgeCommand = {
  options: ['config', 'state', 'seed', 'concurrency', 'timeout'],
  async judge(input) {
    const { values, requirements } = input
    const [baseUrl] = input.words
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
    const progress = progressOf(input)
    const results = await judgeService(service, {
      checks: wantedChecks(SERVICE_CHECKS, requirements),
      seed,
      run,
      done: kept,
      ...(values.concurrency !== undefined && {
        concurrency: wholeNumber(values.concurrency, '--concurrency'),
      }),
      ...(values.timeout !== undefined && { timeoutMs: wholeNumber(values.timeout, '--timeout') }),
      onResult: (result) => {
        kept.push(result)
        if (file !== undefined) writeState(file, { baseUrl: service.baseUrl, seed, runs: run, results: kept })
        progress(result)
      },
    })
    return finishedReport('service', service.baseUrl, seed, results, requirements)
  },
}
