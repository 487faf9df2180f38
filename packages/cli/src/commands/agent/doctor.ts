import { styleText } from 'node:util'
import type { Command } from 'commander'
import { agentFailure } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import type { Subject } from '../../agent/examination.ts'
import { EXAMINATIONS } from '../../agent/examine.ts'
import type { Place } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
import { readPem } from '../../pem-file.ts'
import { visible, visibleJson } from '../../visible.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

type Add = (finding: Finding) => void

export function agentDoctorCommand(): Command {
  return agentCommandOf(
    'doctor',
    'Check everything that an agent needs, and name the first failure',
    'doctor',
    'doctor --json',
  ).action(async (options: AgentOptions) => {
    const findings: Finding[] = []
    const add = (finding: Finding) => {
      findings.push(finding)
      if (!options.json) print(finding)
    }
    const authority = options.ca === undefined ? undefined : readPem(options.ca)
    // Without an agent, no other check is possible.
    await found('agent folder', add, options, () =>
      withAgent({ ...options, lazily: true }, (agent, exchangeFetch) =>
        examineAll({ agent, exchangeFetch, authority, place: options }, add),
      ),
    )
    const isWell = findings.every(({ ok }) => ok)
    if (options.json) console.log(visibleJson({ ok: isWell, checks: findings }))
    else if (isWell) console.log('\nEverything is as it should be.')
    if (!isWell) process.exitCode = 1
  })
}

async function examineAll(subject: Subject, add: Add): Promise<void> {
  for (const { name, examine } of EXAMINATIONS) {
    const isRight = await found(name, add, subject.place, async () =>
      add({ check: name, ok: true, detail: await examine(subject) }),
    )
    if (!isRight) return
  }
}

/** A CommandFailure is a failed check; other errors are thrown. */
async function found(check: string, add: Add, place: Place, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    const failure = agentFailure(error, place)
    if (!(failure instanceof CommandFailure)) throw failure
    add({ check, ok: false, detail: failure.message })
    return false
  }
}

function print({ check, ok, detail }: Finding): void {
  const mark = ok ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${check}: ${detail.split('\n').map(visible).join('\n')}`)
}
