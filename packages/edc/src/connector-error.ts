import type { ConnectorFailure } from '@agent-exchange/sdk'

/** Error codes of a connector, each with its remedy. Programs match on the codes. */
const HINTS = {
  invalid_input: 'The input is invalid. Correct it and try again.',
  unreachable: 'Check the address, the network, and that the connector is running. Trying again is safe.',
  unauthorized: 'The connector refused the credentials of its management API. Check the key and its header.',
  no_offer:
    'The asset is not offered to this participant. Check the asset id, that the sender published it for this participant id, and that it was not withdrawn.',
  several_offers: 'The asset has several offers, so the terms are ambiguous. Ask the sender to keep one.',
  offer_mismatch: 'The offer or agreement differs from the request, or its terms are not acceptable.',
  negotiation_terminated:
    'The negotiation ended without an agreement. Check the likely cause and the logs of both connectors.',
  negotiation_timeout: 'The negotiation timed out. Repeating the call resumes it.',
  transfer_terminated:
    'The transfer ended before the bytes arrived. Check the likely cause; the sender may have withdrawn.',
  transfer_timeout: 'The transfer timed out. Repeating the call resumes it.',
  token_rejected:
    'The data plane refused the token and its replacement. Check both clocks and the keys of the data plane.',
  too_large: 'The content exceeds the limit. Raise the limit or ask the sender.',
  truncated: 'The connection closed before all bytes arrived. Trying again is safe.',
  withdrawn: 'The sender withdrew the asset.',
  conflict: 'The id is already in use for other content. Use a new package id.',
  unsupported_version:
    'The connector does not support a required version. `aex connector doctor` lists its versions.',
  unsupported_policy:
    'The connector cannot evaluate the condition that limits an offer to its recipient. Set `accessCondition` to a condition that it knows, or add the policy function to the connector.',
  bad_answer: 'The response is not that of a connector. Check the address.',
  timeout: 'The call exceeded its deadline. Trying again is safe.',
  aborted: 'The caller aborted the call. Repeating it resumes.',
} as const

export type ConnectorErrorCode = keyof typeof HINTS

const RETRYABLE: ReadonlySet<ConnectorErrorCode> = new Set([
  'unreachable',
  'timeout',
  'negotiation_timeout',
  'transfer_timeout',
  'truncated',
])

export const CONNECTOR_ERROR_CODES = Object.keys(HINTS) as readonly ConnectorErrorCode[]

const MAXIMUM_DETAIL = 600

export interface ConnectorCircumstances {
  /** What happened, as a sentence. The message adds the hint. */
  readonly what?: string
  /** The last state that the connector reported. */
  readonly state?: string
  /** When the connector entered that state, or when it was read. */
  readonly at?: string
  /** The connector's own error text, with tokens masked. */
  readonly errorDetail?: string
  readonly assetId?: string
  readonly negotiationId?: string
  readonly counterPartyNegotiationId?: string
  readonly contractAgreementId?: string
  readonly transferProcessId?: string
  readonly counterPartyTransferProcessId?: string
  readonly httpStatus?: number
  /** The most frequent cause of this failure. */
  readonly likelyCause?: string
  /** Whether the failed request may have taken effect. */
  readonly outcomeUnknown?: boolean
  readonly cause?: unknown
}

/**
 * Every failure of a connector. No member contains content, a token or a key.
 *
 * @example
 * try {
 *   await connector.acquire(request)
 * } catch (error) {
 *   if (!(error instanceof ConnectorError)) throw error
 *   console.error(error.code, error.state, error.likelyCause, error.hint)
 * }
 */
export class ConnectorError extends Error implements ConnectorFailure {
  override readonly name = 'ConnectorError'
  readonly code: ConnectorErrorCode
  readonly hint: string
  readonly state: string | undefined
  readonly at: string | undefined
  readonly errorDetail: string | undefined
  readonly assetId: string | undefined
  readonly negotiationId: string | undefined
  readonly counterPartyNegotiationId: string | undefined
  readonly contractAgreementId: string | undefined
  readonly transferProcessId: string | undefined
  readonly counterPartyTransferProcessId: string | undefined
  readonly httpStatus: number | undefined
  readonly likelyCause: string | undefined
  readonly outcomeUnknown: boolean
  /** Whether repeating the call may succeed. */
  readonly retryable: boolean

  constructor(code: ConnectorErrorCode, circumstances: ConnectorCircumstances = {}) {
    const { what, cause, errorDetail, likelyCause } = circumstances
    const text = [what && withoutSecrets(what), likelyCause, HINTS[code]].filter(Boolean).join(' ')
    super(text, cause === undefined ? {} : { cause })
    this.code = code
    this.hint = HINTS[code]
    this.state = circumstances.state
    this.at = circumstances.at
    this.errorDetail = errorDetail === undefined ? undefined : withoutSecrets(errorDetail)
    this.assetId = circumstances.assetId
    this.negotiationId = circumstances.negotiationId
    this.counterPartyNegotiationId = circumstances.counterPartyNegotiationId
    this.contractAgreementId = circumstances.contractAgreementId
    this.transferProcessId = circumstances.transferProcessId
    this.counterPartyTransferProcessId = circumstances.counterPartyTransferProcessId
    this.httpStatus = circumstances.httpStatus
    this.likelyCause = likelyCause
    this.outcomeUnknown = circumstances.outcomeUnknown ?? false
    this.retryable = RETRYABLE.has(code)
  }
}

/** Connectors echo requests in their errors. Masks tokens, so that none reaches a log. */
export function withoutSecrets(text: string): string {
  return text
    .slice(0, MAXIMUM_DETAIL)
    .replaceAll(/eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/gu, '[token]')
    .replaceAll(/(bearer\s+|authorization["'\s:=]+|auth(?:Code|Key)?["'\s:=]+)[^\s"',}]+/giu, '$1[hidden]')
}
