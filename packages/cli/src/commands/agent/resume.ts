import type { ResumedPackage } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { explanationOf } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { showProgress } from '../../agent/sending.ts'
import { visibleJson } from '../../visible.ts'

export function agentResumeCommand(): Command {
  return agentCommandOf(
    'resume',
    'Send packages that an earlier run sealed without learning that they were accepted',
    'resume',
    'resume --json',
  ).action(async (options: AgentOptions) => {
    const { packages, pruned } = await withAgent(options, (agent) =>
      agent.resume({ onProgress: showProgress }),
    )
    if (options.json) console.log(visibleJson({ packages: packages.map(asDocument), pruned }))
    else if (packages.length === 0) console.log('Nothing is waiting.')
    else for (const one of packages) print(one, options)
    if (packages.some(({ outcome }) => outcome !== 'accepted')) process.exitCode = 1
  })
}

function asDocument({ packageId, outcome, error }: ResumedPackage) {
  return {
    package_id: packageId,
    outcome,
    ...(error && { error: { code: error.code, message: error.message, problem: error.problem?.code } }),
  }
}

function print({ packageId, outcome, error }: ResumedPackage, options: AgentOptions): void {
  console.log(`${packageId} is ${outcome}`)
  if (error) console.error(explanationOf(error, options))
}
