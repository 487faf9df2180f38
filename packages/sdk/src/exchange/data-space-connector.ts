/**
 * A data-space connector as the SDK sees it. Whoever implements it hides the connector's own protocol: no type of
 * EDC, DSP or JSON-LD crosses this line. Every failure is a {@link ConnectorError} (see connector-error.ts).
 */

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

/** Something that just became true. Ids and states only; never a token, never content. */
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
 * How long to wait, and who may end it earlier.
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
  /** The whole call, in milliseconds from now. Each implementation has a default: nothing waits for ever. */
  readonly deadlineMs?: number
  /** Called as things happen. What it throws ends the call; what was done stays, and the same call resumes it. */
  readonly onProgress?: (progress: Progress) => void
}

export interface PublishRequest {
  readonly packageId: string
  /** Derived from the package id unless given, so that publishing twice makes one asset. */
  readonly assetId?: string
  /** What the recipient shall get, byte for byte. */
  readonly bytes: Uint8Array
  /** `sha-256=:…:` over exactly these bytes. */
  readonly digest: string
  /** The one participant to whom it is offered. */
  readonly recipientParticipantId: string
}

export interface PublishedAsset {
  readonly connectorId: string
  readonly assetId: string
  readonly digest: string
  /** False where an earlier call had already published the same. */
  readonly created: boolean
}

/** One condition of an offer: `{ property: '…/UsagePurpose', operator: 'eq', value: 'quality' }`. */
export interface ContractCondition {
  readonly property: string
  readonly operator: string
  readonly value: string
}

/** What accepting an offer would bind the recipient to, in plain terms. */
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
  /**
   * Whether the organization may agree to these terms. Without it, terms that forbid or oblige to anything are
   * refused: software does not take on duties that nobody has read.
   */
  readonly acceptTerms?: (terms: ContractTerms) => boolean
}

/** An agreed and running transfer. Plain data: keep it as JSON, and a later process fetches or finishes with it. */
export interface Acquisition {
  readonly packageId: string
  readonly assetId: string
  readonly counterParty: CounterParty
  readonly contractAgreementId: string
  readonly transferProcessId: string
  /** The same transfer as the other side names it. */
  readonly counterPartyTransferProcessId?: string
}

export interface FetchOptions extends WaitOptions {
  /** More than this is refused before it is read. */
  readonly maximumBytes?: number
}

export type TransferPhase = 'preparing' | 'ready' | 'suspended' | 'ended' | 'unknown'

export interface TransferStatus {
  readonly transferProcessId: string
  readonly counterPartyTransferProcessId?: string
  readonly phase: TransferPhase
  /** The connector's own word for it. */
  readonly state: string
  readonly since?: string
  readonly errorDetail?: string
}

export type WithdrawalStep = 'data_address' | 'offer' | 'negotiations' | 'transfers' | 'asset'

export interface WithdrawalReport {
  readonly assetId: string
  /** Our data address refuses the bytes from now on. This alone stops a holder of an agreement. */
  readonly dataBlocked: boolean
  /** Nobody can begin a new negotiation. */
  readonly offerRemoved: boolean
  readonly endedTransfers: readonly string[]
  /** An asset that somebody has agreed on stays listed at the connector, without its bytes. */
  readonly assetDeleted: boolean
  /** Participants that had agreed before; what they fetched cannot be called back. */
  readonly agreedWith: readonly string[]
  /** What did not work. Empty when all of it did; withdrawing again tries the rest. */
  readonly problems: readonly {
    readonly step: WithdrawalStep
    readonly code: string
    readonly what: string
  }[]
}

export interface ProbeOptions extends WaitOptions {
  /** Also ask this participant's connector, through ours. */
  readonly counterParty?: CounterParty
  /** Publish, negotiate, fetch and withdraw a few bytes through our own protocol endpoint. True unless told. */
  readonly dryRun?: boolean
}

export interface ProbeFailure {
  readonly code: string
  readonly what: string
  readonly hint: string
}

/** What was found out; a part that could not be found out has its failure instead. */
export type Probed<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ProbeFailure)

export interface ProbeReport {
  readonly connectorId: string
  readonly participantId: string
  /** Management API: reached, authorized, and how far the connector's clock is from ours. */
  readonly management: Probed<{ readonly clockSkewMs: number | undefined }>
  readonly apiVersions: Probed<readonly string[]>
  /** What our own protocol endpoint says. */
  readonly protocolVersions: Probed<readonly string[]>
  readonly dataPlanes: Probed<
    readonly { readonly id: string; readonly state: string; readonly transfers: readonly string[] }[]
  >
  /** Who our own connector says it is, asked through its protocol endpoint. */
  readonly ownParticipantId: Probed<string>
  readonly counterParty?: Probed<{ readonly participantId: string | undefined }>
  readonly dryRun?: Probed<{
    readonly elapsedMs: number
    /** An offer for somebody else is not shown to us: the connector really evaluates access policies. */
    readonly accessEnforced: boolean
  }>
}

/**
 * The way into a data space.
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
   * Offers exactly these bytes to one participant. Doing it again with the same content changes nothing; other
   * content under the same id is a `conflict`.
   *
   * @example
   * const digest = await sha256Digest(bytes)
   * const { assetId } = await connector.publish({ packageId, bytes, digest, recipientParticipantId })
   */
  publish(request: PublishRequest, options?: WaitOptions): Promise<PublishedAsset>

  /**
   * Agrees on the offer and starts the transfer. Finds what an earlier, interrupted call began, and goes on there.
   *
   * @example
   * const acquisition = await connector.acquire({ packageId, assetId, counterParty }, { deadlineMs: 60_000 })
   * await writeFile('transfer.json', JSON.stringify(acquisition))
   */
  acquire(request: AcquireRequest, options?: WaitOptions): Promise<Acquisition>

  /**
   * Gets the bytes. Asset properties and lengths are claims; only the digest of the signed manifest tells whether
   * these are the right bytes, and comparing it is the caller's.
   *
   * @example
   * const bytes = await connector.fetch(acquisition, { maximumBytes: 10_000_000 })
   * if (!digestsEqual(await sha256Digest(bytes), manifest.edc.asset_digest)) throw new Error('not what was sent')
   */
  fetch(acquisition: Acquisition, options?: FetchOptions): Promise<Uint8Array>

  /**
   * How a transfer stands, on this side.
   *
   * @example
   * const { phase, state, errorDetail } = await connector.status(acquisition)
   */
  status(reference: Pick<Acquisition, 'transferProcessId'>, options?: WaitOptions): Promise<TransferStatus>

  /**
   * Ends the transfers of this acquisition. A pulled transfer never ends by itself, and until then its token works.
   *
   * @example
   * await connector.finish(acquisition)
   */
  finish(acquisition: Acquisition, options?: WaitOptions): Promise<void>

  /**
   * Stops handing out what was published, as far as that is possible, and says how far that was. Throws only when
   * aborted; repeating it is safe and completes what was left.
   *
   * @example
   * const { dataBlocked, problems } = await connector.withdraw(assetId)
   * if (!dataBlocked) console.error('still reachable', problems)
   */
  withdraw(assetId: string, options?: WaitOptions): Promise<WithdrawalReport>

  /**
   * Looks whether everything is in place.
   *
   * @example
   * const report = await connector.probe({ counterParty })
   * if (!report.management.ok) console.error(report.management.hint)
   */
  probe(options?: ProbeOptions): Promise<ProbeReport>
}
