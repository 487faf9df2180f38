import { styleText } from 'node:util'
import type { Command } from 'commander'
import { agentFailure } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { EXAMINATIONS } from '../../agent/examine.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

export function agentDoctorCommand(): Command {
  return agentCommandOf(
    'doctor',
    'Look at everything that an agent needs, and name the first thing that is wrong',
    'doctor',
    'doctor --json',
  ).action(async (options: AgentOptions) => {
    const findings: Finding[] = []
    const add = (finding: Finding) => {
      findings.push(finding)
      if (!options.json) print(finding)
    }
    await withAgent({ ...options, lazily: true }, async (agent) => {
      for (const { name, examine } of EXAMINATIONS) {
        try {
          add({ check: name, ok: true, detail: await examine(agent) })
        } catch (error) {
          const failure = agentFailure(error)
          if (!(failure instanceof CommandFailure)) throw failure
          add({ check: name, ok: false, detail: failure.message })
          break
        }
      }
    })
    const isWell = findings.every(({ ok }) => ok)
    if (options.json) console.log(JSON.stringify({ ok: isWell, checks: findings }, undefined, 2))
    else if (isWell) console.log('\nEverything is as it should be.')
    if (!isWell) process.exitCode = 1
  })
}

function print({ check, ok, detail }: Finding): void {
  const mark = ok ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${check}: ${detail}`)
}
