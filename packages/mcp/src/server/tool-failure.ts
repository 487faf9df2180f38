import { ExchangeError, type ExchangeErrorCode } from '@agent-exchange/sdk'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { trustedBlock } from '../content/untrusted.ts'

export interface ToolFailure {
  readonly code: string
  readonly result: CallToolResult
}

/** A refusal in our own words. */
export class ToolRefusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Failures of our own input. Those of a received object may quote names that its author chose. */
const OWN_INPUT: ReadonlySet<ExchangeErrorCode> = new Set([
  'policy_refused',
  'input_invalid',
  'object_invalid',
])
/** Failures whose details name a package that this agent sent. */
const OWN_PACKAGE: ReadonlySet<ExchangeErrorCode> = new Set(['draft_sent', 'package_sent'])
const SHOWN_FAILURES = 20

/**
 * The result of a failed call: a stable code and what to do. Only hints of ours, the code of the exchange's problem and
 * failures of the caller's own input; never an unexpected error's text.
 */
export function failureResult(error: unknown, isOwnInput: boolean): ToolFailure {
  if (error instanceof ToolRefusal) return refusal(error.code, error.message)
  if (!(error instanceof ExchangeError))
    return refusal('unexpected', 'The call failed unexpectedly. Nothing is known about its effect.')
  const { code, hint, problem, failures, retryable, details } = error
  const receipt = details['receipt'] as { readonly state: string; readonly sent: boolean } | undefined
  const lines = [
    `${hint} (${code})`,
    ...(problem ? [`The exchange answered ${problem.code} (${problem.status}).`] : []),
    ...(isOwnInput && OWN_INPUT.has(code)
      ? failures
          .slice(0, SHOWN_FAILURES)
          .map(({ pointer, message, rule }) => `${pointer}: ${message} [${rule}]`)
      : []),
    ...(OWN_PACKAGE.has(code) ? packageLine(details) : []),
    ...(receipt?.sent ? [`A signed receipt "${receipt.state}" was sent to the exchange.`] : []),
    ...(retryable ? ['The same call may succeed later.'] : []),
  ]
  return refusal(code, lines.join('\n'))
}

function packageLine({ packageId, threadId }: Readonly<Record<string, unknown>>): string[] {
  return [`The package is ${String(packageId)} in ${String(threadId)}.`]
}

export function refusal(code: string, text: string): ToolFailure {
  return { code, result: { isError: true, content: [trustedBlock(text)] } }
}
