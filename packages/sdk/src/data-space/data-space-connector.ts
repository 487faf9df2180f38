/**
 * The data-space connector that an agent gives to the SDK. An implementation hides the connector's own protocol: no
 * type of EDC, DSP or JSON-LD appears here. `@agent-exchange/edc` implements it for Eclipse EDC and Tractus-X.
 */

/**
 * How a connector reports a failure. Only these members are read, so an implementation brings its own error class.
 */
export interface ConnectorFailure extends Error {
  readonly name: 'ConnectorError'
  /** `withdrawn`, `too_large` and `aborted` have a meaning here; every other code is the connector's own. */
  readonly code: string
  /** Whether repeating the same call may succeed. */
  readonly retryable: boolean
}

export function isConnectorFailure(error: unknown): error is ConnectorFailure {
  return error instanceof Error && error.name === 'ConnectorError' && 'code' in error && 'retryable' in error
}

/** Another organization in the data space. */
export interface CounterParty {
  readonly participantId: string
  /** Where its connector takes protocol messages, as our connector reaches it. */
  readonly protocolEndpoint: string
}

export type ProgressStep =
  | 'data_stored'
  | 'asset_published'
  | 'policy_published'
  | 'offer_published'
  | 'offer_found'
  | 'negotiation_found'
  | 'negotiation_started'
  | 'negotiation_state'
  | 'agreement_reached'
  | 'transfer_found'
  | 'transfer_started'
  | 'transfer_state'
  | 'transfer_ready'
  | 'transfer_renewed'
  | 'token_received'
  | 'bytes_received'
  | 'transfer_ended'

/** One completed step. Holds ids and states only, never a token or content. */
export interface Progress {
  readonly step: ProgressStep
  readonly assetId?: string
  readonly state?: string
  readonly negotiationId?: string
  readonly contractAgreementId?: string
  readonly transferProcessId?: string
  readonly counterPartyTransferProcessId?: string
}

/**
 * Deadline, cancellation and progress of one call.
 *
 * @example
 * const stop = new AbortController()
 * await connector.acquire(request, {
 *   signal: stop.signal,
 *   deadlineMs: 60_000,
 *   onProgress: ({ step, state }) => console.log(step, state),
 * })
 */
export interface WaitOptions {
  readonly signal?: AbortSignal
  /** For the whole call, in milliseconds from now. Every implementation has a default. */
  readonly deadlineMs?: number
  /** An exception from it ends the call. Completed steps remain, and repeating the call resumes after them. */
  readonly onProgress?: (progress: Progress) => void
}

export interface PublishRequest {
  readonly packageId: string
  /** Defaults to an id derived from the package id, so that publishing twice creates one asset. */
  readonly assetId?: string
  /** The exact bytes that the recipient receives. */
  readonly bytes: Uint8Array
  /** `sha-256=:…:` of `bytes`. */
  readonly digest: string
  /** The only participant that the offer admits. */
  readonly recipientParticipantId: string
}

export interface PublishedAsset {
  readonly connectorId: string
  readonly assetId: string
  readonly digest: string
  /** False if an earlier call published the same bytes. */
  readonly created: boolean
}

/** One condition of an offer: `{ property: '…/UsagePurpose', operator: 'eq', value: 'quality' }`. */
export interface ContractCondition {
  readonly property: string
  readonly operator: string
  readonly value: string
}

/** The terms that the recipient accepts with an offer, without ODRL. */
export interface ContractTerms {
  readonly permittedActions: readonly string[]
  readonly conditions: readonly ContractCondition[]
  readonly prohibitions: number
  readonly obligations: number
}

export interface AcquireRequest {
  readonly packageId: string
  readonly assetId: string
  readonly counterParty: CounterParty
  /** Decides whether the organization agrees. By default, terms with a prohibition or an obligation are refused. */
  readonly acceptTerms?: (terms: ContractTerms) => boolean
}

/** A started transfer. Serializable as JSON, so that another process can fetch or finish it. */
export interface Acquisition {
  readonly packageId: string
  readonly assetId: string
  readonly counterParty: CounterParty
  readonly contractAgreementId: string
  readonly transferProcessId: string
  /** Id of the same transfer at the other connector. */
  readonly counterPartyTransferProcessId?: string
}

export interface FetchOptions extends WaitOptions {
  /** A longer body is refused before it is read. */
  readonly maximumBytes?: number
}

export type WithdrawalStep = 'data_address' | 'offer' | 'negotiations' | 'transfers' | 'asset'

export interface WithdrawalReport {
  readonly assetId: string
  /** Our data address refuses the bytes from now on. Nothing else stops a participant that holds an agreement. */
  readonly dataBlocked: boolean
  /** No new negotiation can start. */
  readonly offerRemoved: boolean
  readonly endedTransfers: readonly string[]
  /** A connector keeps an asset that has a contract agreement; its bytes are gone all the same. */
  readonly assetDeleted: boolean
  /** Participants with a contract agreement. Bytes that they fetched earlier cannot be recalled. */
  readonly agreedWith: readonly string[]
  /** Failed steps. Withdrawing again retries them. */
  readonly problems: readonly {
    readonly step: WithdrawalStep
    readonly code: string
    readonly what: string
  }[]
}

/**
 * A connector of a data space. Every failure is a {@link ConnectorFailure}.
 *
 * @example
 * // Sender
 * const { assetId } = await sender.publish({ packageId, bytes, digest, recipientParticipantId: 'BPNL000000000B' })
 * // Recipient
 * const acquisition = await recipient.acquire({ packageId, assetId, counterParty })
 * const received = await recipient.fetch(acquisition)
 * // compare the digest over exactly these bytes, then
 * await recipient.finish(acquisition)
 */
export interface DataSpaceConnector {
  /** The id under which the operator of the exchange approved this connector. */
  readonly connectorId: string
  readonly participantId: string

  /**
   * Offers the bytes to one participant. Idempotent for the same bytes; other bytes under the same id are a
   * `conflict`.
   *
   * @example
   * const digest = await sha256Digest(bytes)
   * const { assetId } = await connector.publish({ packageId, bytes, digest, recipientParticipantId })
   */
  publish(request: PublishRequest, options?: WaitOptions): Promise<PublishedAsset>

  /**
   * Negotiates the offer and starts the transfer. Resumes the negotiation or transfer of an interrupted call.
   *
   * @example
   * const acquisition = await connector.acquire({ packageId, assetId, counterParty }, { deadlineMs: 60_000 })
   * await writeFile('transfer.json', JSON.stringify(acquisition))
   */
  acquire(request: AcquireRequest, options?: WaitOptions): Promise<Acquisition>

  /**
   * Downloads the bytes. The caller compares their digest with the signed manifest: asset properties and lengths
   * prove nothing.
   *
   * @example
   * const bytes = await connector.fetch(acquisition, { maximumBytes: 10_000_000 })
   * if (!digestsEqual(await sha256Digest(bytes), manifest.edc.asset_digest)) throw new Error('not what was sent')
   */
  fetch(acquisition: Acquisition, options?: FetchOptions): Promise<Uint8Array>

  /**
   * Terminates the transfers of this acquisition. A pull transfer never completes by itself, and its token stays
   * valid until then.
   *
   * @example
   * await connector.finish(acquisition)
   */
  finish(acquisition: Acquisition, options?: WaitOptions): Promise<void>

  /**
   * Withdraws what was published and reports which steps succeeded. Throws only if aborted. Repeating it is safe and
   * retries the failed steps.
   *
   * @example
   * const { dataBlocked, problems } = await connector.withdraw(assetId)
   * if (!dataBlocked) console.error('still reachable', problems)
   */
  withdraw(assetId: string, options?: WaitOptions): Promise<WithdrawalReport>
}
