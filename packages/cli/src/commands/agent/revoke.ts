import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visibleJson } from '../../visible.ts'

interface RevokeOptions extends AgentOptions {
  readonly reasonCode: string
  readonly reason: string
}

export function agentRevokeCommand(): Command {
  return agentCommandOf(
    'revoke',
    'Revoke a package that was not opened yet, by a signed statement',
    'revoke pkg_1 --reason-code superseded --reason "A newer one follows."',
  )
    .argument('<package_id>', 'the package')
    .requiredOption('--reason-code <code>', 'a code such as superseded or sent_in_error')
    .requiredOption('--reason <text>', 'a sentence; the other side and the operator can read it')
    .action(async (packageId: string, { reasonCode, reason, ...options }: RevokeOptions) => {
      const done = await withAgent(options, (agent) =>
        agent.revoke(packageId, { reasonCode, reasonDetail: reason }),
      )
      if (options.json) return console.log(visibleJson(snakeCased(done)))
      console.log(`${packageId} is revoked${done.alreadyRevoked ? ' (it was before)' : ''}`)
      console.log(
        done.futureAccessBlocked
          ? '  nobody can fetch it any more'
          : '  access could NOT be blocked everywhere; run it again, and see --json for what is left',
      )
    })
}
