import { folderStep } from '../packages/cli/src/agent/next-step.ts'
import { aexStep } from '../packages/cli/src/next-step.ts'
import type { Demo } from './run-demo.ts'
import type { StoryDesks } from './story-desks.ts'

type Kept = Pick<Demo, 'exchange' | 'agents' | 'story' | 'deskLink'>

/** What can be tried while the demo is left running. */
export function demoDirections(
  { exchange, agents, story, deskLink }: Kept,
  { token, links }: { readonly token: string; readonly links: StoryDesks['links'] },
): string {
  const carmaker = { dir: agents.manufacturer.folder.folder }
  const supplier = 'folder' in agents.supplier ? { dir: agents.supplier.folder.folder } : undefined
  const get = (path: string) =>
    `  curl -sS -H "Authorization: Bearer $TOKEN" -H "X-Correlation-ID: try" ${exchange.url}${path}`
  return `
Still running. The story in a browser, at the desk of each company (a link works once, within ten minutes):
  the carmaker       ${links.manufacturer}
  the seat supplier  ${links.supplier}

In another terminal, as the carmaker's agent (the token lives for five minutes):
  TOKEN=${token}
${get(`/v1/threads/${story.threadId}`)}
${get(`/v1/directory/agents/${agents.supplier.identity.agentId}/keys`)}
${get('/v1/notifications')}
${get(`/v1/audit/packages/${story.packageIds[0]}`)}

With the command line, as either agent:
  ${folderStep(carmaker, 'thread', story.threadId)}
${supplier ? `  ${folderStep(supplier, 'token')}\n` : ''}${deskLink ? deskDirections(deskLink(), folderStep(carmaker, 'mcp')) : ''}
As the operator:
  AEX_OPERATOR_URL=${exchange.operatorUrl} AEX_OPERATOR_TOKEN=${exchange.operatorToken} ${aexStep('delivery', 'list')}

API reference: ${exchange.url}/docs     Ctrl-C stops it and removes everything.`
}

function deskDirections(link: string, mcpStep: string): string {
  return `
As the person at the carmaker's desk (the link works once, within ten minutes):
  ${link}

With a language model of your own, the MCP server of the carmaker:
  ${mcpStep}
`
}
