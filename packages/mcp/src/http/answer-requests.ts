import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { MAXIMUM_MESSAGE_BYTES, MAXIMUM_SUBSCRIPTIONS } from '../mcp-limits.ts'
import type { CallBudget } from '../server/call-budget.ts'
import { buildServer } from '../server/server-factory.ts'
import type { McpSession } from '../session.ts'

/** Whom a request is served for. */
export interface RequestTerms {
  readonly session: McpSession
  readonly budget: CallBudget
}

export interface McpRequests extends AsyncDisposable {
  /** Answers a request whose sender was identified. */
  answer(request: IncomingMessage, response: ServerResponse, terms: RequestTerms): Promise<void>
}

/**
 * Streamable HTTP for a listener of another server, which identifies the sender of each request. Nothing is kept
 * between two requests, so there is no session that another token could take over, and any instance may answer.
 */
export function answerRequests(): McpRequests {
  const maxRequestBodySize = MAXIMUM_MESSAGE_BYTES
  const handler = createMcpHandler(
    ({ authInfo }) => {
      if (!authInfo?.extra) throw new Error('a request without terms')
      const { session, budget } = authInfo.extra as unknown as RequestTerms
      return buildServer(session, budget)
    },
    { maxRequestBodySize, maxSubscriptions: MAXIMUM_SUBSCRIPTIONS },
  )
  const serve = toNodeHandler(handler, { maxRequestBodySize })
  return {
    answer(request, response, terms) {
      // The library passes this on to the function above, and sends none of it.
      const auth = { token: '', clientId: '', scopes: [], extra: { ...terms } }
      return serve(Object.assign(request, { auth }) as Parameters<typeof serve>[0], response)
    },
    [Symbol.asyncDispose]: () => handler.close(),
  }
}
