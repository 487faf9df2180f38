import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { visibleJson } from '../../visible.ts'

export function agentTokenCommand(): Command {
  return agentCommandOf(
    'token',
    'Print an access token, to try the API with curl',
    'token',
    'token --client CLIENT_ID --url http://127.0.0.1:8080',
  )
    .addHelpText(
      'after',
      '  $ curl -H "Authorization: Bearer $(aex agent token)" -H "X-Correlation-ID: try-1" \\\n      http://127.0.0.1:8080/v1/notifications',
    )
    .action(async (options: AgentOptions) => {
      const token = await withAgent(options, (agent) => agent.token())
      console.log(options.json ? visibleJson({ access_token: token }) : token)
    })
}
