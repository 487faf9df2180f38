import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../kernel/context.ts'
import { Problem } from '../kernel/problem.ts'

interface BrowserRequest {
  readonly headers: IncomingHttpHeaders
}

/** A page that the script of a live region fetches is no sign of a person. Old browsers send no such header. */
export function isActivity({ headers }: BrowserRequest): boolean {
  const mode = headers['sec-fetch-mode']
  return mode === undefined || mode === 'navigate'
}

/** Whether a browser asks for a page to show. Any other caller gets a problem document: it could not use a sign-in page. */
export function isNavigation({ headers }: BrowserRequest): boolean {
  const { 'sec-fetch-mode': mode, accept = '', authorization } = headers
  if (mode !== undefined) return mode === 'navigate'
  return authorization === undefined && accept.includes('text/html')
}

/** An agent that was given the address of the operator API sends its token here. */
export function notSignedIn({ headers }: BrowserRequest, { publicUrl }: Context): Problem {
  return headers.authorization === undefined
    ? new Problem('access_token_missing')
    : new Problem('access_token_invalid', { reason: 'operator_listener', agent_api: publicUrl })
}
