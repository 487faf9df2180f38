import { ToolRefusal } from '@agent-exchange/mcp/content'
import { ExchangeError } from '@agent-exchange/sdk'
import { MAXIMUM_DRAFT_BYTES, MAXIMUM_OPEN_DRAFTS } from '@agent-exchange/sdk/internal'
import { GatewayProblem } from '../problems.ts'

const RETRY_SECONDS = 5
const DATABASE_RETRY_SECONDS = 1
const MISSING: ReadonlySet<string> = new Set(['draft_missing', 'package_not_for_us'])
const INVALID: ReadonlySet<string> = new Set(['input_invalid', 'object_invalid', 'peer_unknown'])
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'exchange_unreachable',
  'timed_out',
  'discovery_failed',
  'token_refused',
])
/** Failures of stores, which are in the gateway's database. */
const STORES: ReadonlySet<string> = new Set([
  'key_store_unavailable',
  'outbox_unavailable',
  'pin_store_unreadable',
])
const MAXIMUM_FAILURES = 20

/**
 * The problem of a failure of the SDK. It names codes and members of the caller's own input, never the text of an
 * unexpected error or of another party.
 */
export function asGatewayProblem(error: unknown): unknown {
  if (error instanceof ToolRefusal) return new GatewayProblem('validation_failed', { reason: error.message })
  if (!(error instanceof ExchangeError)) return error
  const { code, hint, problem, failures, retryable } = error
  if (MISSING.has(code) || problem?.status === 404)
    return new GatewayProblem('resource_not_found', {}, { cause: error })
  if (code === 'approval_declined') return new GatewayProblem('draft_declined', {}, { cause: error })
  if (INVALID.has(code))
    return new GatewayProblem(
      'validation_failed',
      {
        reason: code,
        failures: failures
          .slice(0, MAXIMUM_FAILURES)
          .map(({ pointer, message, rule }) => ({ pointer, message, rule })),
      },
      { cause: error },
    )
  if (code === 'draft_limit')
    return 'bytes' in error.details
      ? new GatewayProblem('payload_too_large', { maximum_bytes: MAXIMUM_DRAFT_BYTES }, { cause: error })
      : new GatewayProblem('draft_limit', { of: 'agent', maximum: MAXIMUM_OPEN_DRAFTS }, { cause: error })
  if (code === 'key_unavailable')
    return new GatewayProblem(
      'key_module_unavailable',
      { retry_after_seconds: RETRY_SECONDS },
      { cause: error },
    )
  if (retryable && STORES.has(code))
    return new GatewayProblem(
      'database_unavailable',
      { retry_after_seconds: DATABASE_RETRY_SECONDS },
      { cause: error },
    )
  if (retryable || UNAVAILABLE.has(code))
    return new GatewayProblem(
      'exchange_unavailable',
      { code, retry_after_seconds: RETRY_SECONDS },
      { cause: error },
    )
  return new GatewayProblem(
    'exchange_refused',
    {
      code,
      hint,
      ...(problem && { exchange: { code: problem.code, title: problem.title, status: problem.status } }),
    },
    { cause: error },
  )
}
