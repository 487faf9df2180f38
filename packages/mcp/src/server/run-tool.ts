import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import { trustedBlock } from '../content/untrusted.ts'
import type { CallReport, McpSession } from '../session.ts'
import { refusalText, type CallBudget } from './call-budget.ts'
import { failureResult, refusal } from './tool-failure.ts'
import type { Tool } from './tool.ts'

/** Runs one call of a tool within its limits, and turns its answer or its failure into a result. */
export async function runTool(
  tool: Tool,
  input: Record<string, unknown>,
  { session, budget, context }: { session: McpSession; budget: CallBudget; context: ServerContext },
): Promise<CallToolResult> {
  const startedAt = session.now().getTime()
  const report = (outcome: CallReport['outcome'], code?: string) =>
    session.onCall?.({
      tool: tool.name,
      outcome,
      milliseconds: session.now().getTime() - startedAt,
      ...(code !== undefined && { code }),
    })
  const refused = budget.begin(tool.name, tool.callsPerMinute)
  if (refused) {
    report('limited', refused.kind)
    return refusal('limited', refusalText(tool.name, tool.callsPerMinute, refused)).result
  }
  const { signal } = context.mcpReq
  try {
    const answer = await tool.run(input, { session, signal, progress: progressOf(context) })
    report(signal.aborted ? 'cancelled' : 'done')
    return {
      content: [trustedBlock(answer.text), ...(answer.untrusted ?? [])],
      structuredContent: answer.structured as Record<string, unknown>,
    }
  } catch (error) {
    const failure = failureResult(error, tool.takesContent ?? false)
    report(signal.aborted ? 'cancelled' : 'failed', failure.code)
    return failure.result
  } finally {
    budget.end()
  }
}

/** Progress notifications, if the client asked for them. Their number only grows, as the protocol demands. */
function progressOf({ mcpReq }: ServerContext): (message: string) => void {
  const { _meta: { progressToken } = {} } = mcpReq
  if (progressToken === undefined) return () => undefined
  let progress = 0
  return (message) => {
    progress += 1
    const params = { progressToken, progress, message }
    // A client that went away is noticed by its signal.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
