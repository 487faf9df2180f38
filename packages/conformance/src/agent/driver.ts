import { Finding, NotJudged } from '../run/finding.ts'
import type { LineProcess } from '../run/line-process.ts'

/** What the kit asks a driver to let its agent do. docs/conformance.md describes each. */
export type DriverCommand =
  | 'create'
  | 'register'
  | 'listen'
  | 'refresh_keys'
  | 'poll'
  | 'handled'
  | 'open'
  | 'restart'

export type DriverAnswer = Readonly<Record<string, unknown>>

/** Lets the agent under test act. */
export interface Driver {
  /** Throws NotJudged if the agent cannot do this. */
  ask(command: DriverCommand, values?: object): Promise<DriverAnswer>
}

export function driverOf(process: LineProcess): Driver {
  return {
    async ask(command, values = {}) {
      const answer = await process.ask({ command, ...values })
      if (answer['unsupported'] === true) throw new NotJudged(`the driver does not support ${command}`)
      if (typeof answer['error'] === 'string') throw new Finding(`${command} failed: ${answer['error']}`)
      return answer
    },
  }
}
