import { randomBytes } from 'node:crypto'
import { AGENT_CHECKS } from '../agent/checks/index.ts'
import { startAgentSession } from '../agent/judge-agent.ts'
import { parseListenAddress } from '../configuration.ts'
import { startLineProcess } from '../run/line-process.ts'
import { finishedReport, type JudgeCommand, progressOf, wantedChecks } from './judge-command.ts'

/** `aex-conformance agent -- COMMAND [WORD...]` */
export const AGENT_COMMAND: JudgeCommand = {
  options: ['seed', 'listen'],
  async judge(input) {
    const { words: command, values, requirements } = input
    if (command.length === 0) throw new Error('Name the driver: aex-conformance agent -- COMMAND [WORD...]')
    const address = values.listen === undefined ? {} : parseListenAddress(values.listen, '--listen')
    const seed = values.seed ?? randomBytes(8).toString('hex')
    await using driver = startLineProcess(command)
    await using session = await startAgentSession({ process: driver, seed, ...address })
    const results = await session.run({
      checks: wantedChecks(AGENT_CHECKS, requirements),
      onResult: progressOf(input),
    })
    return finishedReport('agent', command.join(' '), seed, results, requirements)
  },
}
