/** Every way in which a connector fails, with what its reader can do about it. Programs match on the codes. */
const HINTS = {
  invalid_input: 'Something that was given cannot be used. Correct it and try again.',
  unreachable: 'Check the address, the network, and that the connector is running. Trying again is safe.',
  unauthorized: 'The connector refused the credentials of its management API. Check the key and its header.',
  no_offer:
    'The asset is not offered to this participant. Check the asset id, that the sender published it for this participant id, and that it was not withdrawn.',
  several_offers: 'One asset has several offers, so which terms apply is open. Ask the sender to leave one.',
  offer_mismatch: 'What is offered or agreed is not what was asked for, or its terms are not acceptable.',
  negotiation_terminated:
    'The negotiation ended without an agreement. Look at the likely cause and at both connectors’ logs.',
  negotiation_timeout: 'The negotiation did not end in time. Calling again goes on with the same one.',
  transfer_terminated:
    'The transfer ended before the bytes were there. Look at the likely cause; the sender may have withdrawn.',
  transfer_timeout: 'The transfer was not ready in time. Calling again goes on with the same one.',
  token_rejected:
    'The data plane refused the token, and a new one too. Check both clocks and the data plane’s keys.',
  too_large: 'There are more bytes than the limit allows. Raise the limit or ask the sender.',
  truncated: 'The connection ended before all bytes were there. Trying again is safe.',
  withdrawn: 'The sender has withdrawn it.',
  conflict: 'Something else already has this id. Use a new package id.',
  unsupported_version: 'The connector does not speak what is needed. The doctor lists what it speaks.',
  unsupported_policy:
    'The connector cannot evaluate the condition that limits an offer to its recipient. Give `accessCondition` one that it knows, or add the policy function to it.',
  bad_answer: 'The answer is not what a connector gives. Check that the address is the right one.',
  timeout: 'It took longer than the limit. Trying again is safe.',
  aborted: 'The caller gave up. What was begun can be resumed.',
} as const

export type ConnectorErrorCode = keyof typeof HINTS

export const CONNECTOR_ERROR_CODES = Object.keys(HINTS) as readonly ConnectorErrorCode[]

const MAXIMUM_DETAIL = 600

export interface ConnectorCircumstances {
  /** What happened here, in a sentence; the hint follows it. */
  readonly what?: string
  /** The last state that the connector told. */
  readonly state?: string
  /** When that was, or when it was seen. */
  readonly at?: string
  /** What the connector said. Tokens in it are masked. */
  readonly errorDetail?: string
  readonly assetId?: string
  readonly negotiationId?: string
  readonly counterPartyNegotiationId?: string
  readonly contractAgreementId?: string
  readonly transferProcessId?: string
  readonly counterPartyTransferProcessId?: string
  readonly httpStatus?: number
  /** What usually lies behind it. */
  readonly likelyCause?: string
  /** Whether the request may have had its effect all the same. */
  readonly outcomeUnknown?: boolean
  readonly cause?: unknown
}

/**
 * The one error of a connector. No sentence and no member holds content, a token or a key.
 *
 * @example
 * try {
 *   await connector.acquire(request)
 * } catch (error) {
 *   if (!(error instanceof ConnectorError)) throw error
 *   console.error(error.code, error.state, error.likelyCause, error.hint)
 * }
 */
export class ConnectorError extends Error {
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

  constructor(code: ConnectorErrorCode, circumstances: ConnectorCircumstances = {}) {
    const { what, cause, errorDetail, likelyCause } = circumstances
    const text = [what && withoutSecrets(what), likelyCause, HINTS[code]].filter(Boolean).join(' ')
    super(text, cause === undefined ? {} : { cause })
    this.name = 'ConnectorError'
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
  }
}

/** Connectors repeat what they were sent. A token in their words must not reach a log through ours. */
export function withoutSecrets(text: string): string {
  return text
    .slice(0, MAXIMUM_DETAIL)
    .replaceAll(/eyJ[\w-]{8,}(?:\.[\w-]*){0,4}/gu, '[token]')
    .replaceAll(/(bearer\s+|authorization["'\s:=]+|auth(?:Code|Key)?["'\s:=]+)[^\s"',}]+/giu, '$1[hidden]')
}
