import type { Acquisition, CounterParty, DataSpaceConnector, WaitOptions } from '@agent-exchange/sdk'

export type TransferPhase = 'preparing' | 'ready' | 'suspended' | 'ended' | 'unknown'

export interface TransferStatus {
  readonly transferProcessId: string
  readonly counterPartyTransferProcessId?: string
  readonly phase: TransferPhase
  /** The state as the connector names it. */
  readonly state: string
  readonly since?: string
  readonly errorDetail?: string
}

export interface ProbeOptions extends WaitOptions {
  /** Also request the catalog of this participant, through our connector. */
  readonly counterParty?: CounterParty
  /** Publish, negotiate, fetch and withdraw a few bytes through our own protocol endpoint. Defaults to true. */
  readonly dryRun?: boolean
}

export interface ProbeFailure {
  readonly code: string
  readonly what: string
  readonly hint: string
}

/** The result of one probe, or why it failed. */
export type Probed<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & ProbeFailure)

export interface ProbeReport {
  readonly connectorId: string
  readonly participantId: string
  /** Management API: reached, authorized, and how far the connector's clock is from ours. */
  readonly management: Probed<{ readonly clockSkewMs: number | undefined }>
  readonly apiVersions: Probed<readonly string[]>
  /** Versions that our own protocol endpoint lists. */
  readonly protocolVersions: Probed<readonly string[]>
  readonly dataPlanes: Probed<
    readonly { readonly id: string; readonly state: string; readonly transfers: readonly string[] }[]
  >
  /** The participant id that our own protocol endpoint reports. */
  readonly ownParticipantId: Probed<string>
  readonly counterParty?: Probed<{ readonly participantId: string | undefined }>
  readonly dryRun?: Probed<{
    readonly elapsedMs: number
    /** Whether the connector hid an offer that was meant for another participant. */
    readonly accessEnforced: boolean
  }>
}

/** A connector whose transfers and configuration can be inspected. */
export interface InspectableConnector extends DataSpaceConnector {
  /**
   * State of a transfer at our connector.
   *
   * @example
   * const { phase, state, errorDetail } = await connector.status(acquisition)
   */
  status(reference: Pick<Acquisition, 'transferProcessId'>, options?: WaitOptions): Promise<TransferStatus>

  /**
   * Examines the connector: reachability, credentials, versions, data planes, clock, and a transfer to itself.
   *
   * @example
   * const report = await connector.probe({ counterParty })
   * if (!report.management.ok) console.error(report.management.hint)
   */
  probe(options?: ProbeOptions): Promise<ProbeReport>
}
