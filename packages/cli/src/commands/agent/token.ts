import { Command } from 'commander'
import { accessToken } from '../../agent/access-token.ts'
import { clientOption, folderOption, urlOption, type AgentOptions } from '../../agent/agent-options.ts'

const EXAMPLES = `
Examples:
  $ aex agent token --client CLIENT_ID
  $ curl -H "Authorization: Bearer $(aex agent token --client CLIENT_ID)" -H "X-Correlation-ID: try-1" \\
      http://127.0.0.1:8080/v1/notifications`

export function agentTokenCommand(): Command {
  return new Command('token')
    .description('Print an access token, so that anybody can try the API with curl')
    .addOption(clientOption())
    .addOption(urlOption())
    .addOption(folderOption())
    .addHelpText('after', EXAMPLES)
    .action(async ({ dir, url, client }: AgentOptions) => {
      const { access_token } = await accessToken({ folder: dir, baseUrl: url, clientId: client })
      console.log(access_token)
    })
}
