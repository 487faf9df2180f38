import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { ExchangeError } from '@agent-exchange/sdk'
import { refusalText, type CallBudget } from '../server/call-budget.ts'
import { ToolRefusal } from '../server/tool-failure.ts'
import type { McpSession } from '../session.ts'

const READS_PER_MINUTE = 60

/** Reads a resource within the limits. A failure has our own words only, as that of a tool. */
export function readLimited(
  kind: string,
  work: (signal: AbortSignal) => Promise<ReadResourceResult>,
  { session, budget }: { readonly session: McpSession; readonly budget: CallBudget },
): (context: ServerContext) => Promise<ReadResourceResult> {
  return async ({ mcpReq }) => {
    const startedAt = session.now().getTime()
    const what = `resource ${kind}`
    const refused = budget.begin(what, READS_PER_MINUTE)
    if (refused)
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        refusalText(`A ${what}`, READS_PER_MINUTE, refused),
      )
    let outcome: 'done' | 'failed' = 'failed'
    try {
      const result = await work(mcpReq.signal)
      outcome = 'done'
      return result
    } catch (error) {
      throw protocolError(error)
    } finally {
      budget.end()
      session.onCall?.({
        tool: what,
        outcome,
        milliseconds: session.now().getTime() - startedAt,
      })
    }
  }
}

function protocolError(error: unknown): Error {
  if (error instanceof ResourceNotFoundError) return error
  if (error instanceof ToolRefusal) return new ProtocolError(ProtocolErrorCode.InternalError, error.message)
  if (error instanceof ExchangeError)
    return new ProtocolError(ProtocolErrorCode.InternalError, `${error.hint} (${error.code})`)
  return new ProtocolError(ProtocolErrorCode.InternalError, 'The resource could not be read.')
}
