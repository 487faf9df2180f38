import type { KeyDirectory, PackageEvidence, ThreadEvidence } from '@agent-exchange/protocol'

export const EVIDENCE_FORMAT = 'aex-evidence/1'

/**
 * Evidence as it was collected: everything that a verifier needs, in one JSON value that can be kept, sent and
 * checked without the exchange. The format is ours (O-07).
 */
export interface EvidenceBundle {
  readonly format: typeof EVIDENCE_FORMAT
  readonly collectedAt: string
  /** The chain of the thread, as far as the collector is a party to its packages. */
  readonly thread: ThreadEvidence
  readonly packages: readonly PackageEvidence[]
  /** The keys that the platform signs its statements with. */
  readonly platformKeys: KeyDirectory
}
