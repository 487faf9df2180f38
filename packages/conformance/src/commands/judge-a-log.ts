import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parsePolicy } from '@agent-exchange/log'
import { judgeLog } from '../log/judge-log.ts'
import { wireLog } from '../log/read-log.ts'
import { httpTransport } from '../wire/http-transport.ts'
import { politeTransport } from '../wire/polite-transport.ts'
import { finishedReport, type JudgeCommand, progressOf, wantedChecks } from './judge-command.ts'
import { wholeNumber } from './options.ts'

const TIMEOUT_MS = 15_000
const REQUESTS_PER_SECOND = 50

/** `aex-conformance log PREFIX_URL --policy FILE` */
export const LOG_COMMAND: JudgeCommand = {
  options: ['policy', 'checkpoint', 'token-file', 'seed', 'timeout'],
  async judge(input) {
    const { values, requirements } = input
    const [prefix] = input.words
    if (prefix === undefined || values.policy === undefined)
      throw new Error(
        'Name the address of the log and whom you trust: aex-conformance log PREFIX_URL --policy FILE',
      )
    const { checkpoint: file, 'token-file': tokenFile } = values
    const seed = values.seed ?? randomBytes(8).toString('hex')
    const timeoutMs = values.timeout === undefined ? TIMEOUT_MS : wholeNumber(values.timeout, '--timeout')
    using transport = httpTransport({ timeoutMs, concurrency: 1 })
    const send = politeTransport(transport, { requestsPerSecond: REQUESTS_PER_SECOND })
    const token = tokenFile === undefined ? undefined : readFileSync(tokenFile, 'utf8').trim()
    const { results, checkpoint } = await judgeLog({
      read: wireLog(prefix, send, token),
      policy: parsePolicy(readFileSync(values.policy)),
      ...(file !== undefined && existsSync(file) && { earlier: readFileSync(file, 'utf8') }),
      seed,
      onResult: progressOf(input),
    })
    const wanted = wantedChecks(results, requirements)
    // A log that failed must not replace the checkpoint that convicts it.
    if (file !== undefined && results.every(({ verdict }) => verdict !== 'fail'))
      writeFileSync(file, checkpoint)
    return finishedReport('log', prefix, seed, [...wanted], requirements)
  },
}
