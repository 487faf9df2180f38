import type {
  PackageMetadata,
  PackageResource,
  PolicyReceiptResource,
  ProtocolObject,
  ReceiptResource,
} from '@agent-exchange/protocol'
import type { PeerKey } from '../peers/peer-directory.ts'
import type { Outbox } from './outbox.ts'
import type { DataSpace } from './delivery-mode.ts'

/** In this order; `receipt` once for each that is sent. */
export type OpenProgress =
  | { readonly step: 'fetched'; readonly packageId: string }
  | {
      readonly step: 'opened'
      readonly packageId: string
      readonly objectType: string
      readonly keyId: string
    }
  | { readonly step: 'receipt'; readonly packageId: string; readonly receipt: ReceiptResource }

export interface OpenDependencies {
  /** Needed for threads that run over data-space connectors. */
  readonly dataSpace?: DataSpace
  /** Lets a sender read what it sent through a connector. */
  readonly outbox?: Outbox
  /** Which signed receipts are sent: `opened` and all before it unless told. Failures are told unless `none`. */
  readonly receipts?: 'none' | 'received' | 'opened'
  readonly maximumBytes?: number
  readonly onProgress?: (progress: OpenProgress) => void
  readonly signal?: AbortSignal
}

export interface OpenedPackage {
  readonly object: ProtocolObject
  readonly resource: PackageResource
  readonly metadata: PackageMetadata
  readonly policyReceipt: PolicyReceiptResource
  /**
   * The object's own id and creation time beside the package's. They need not be equal (PKG-09): an object may be
   * written before it is sealed, and a response has an id of its own.
   */
  readonly ids: { readonly package: string; readonly object: string }
  readonly createdAt: { readonly package: string; readonly object: string }
  /** Which agent sent it. A response may come from another agent of the organization than the one that was asked (O-46). */
  readonly senderKey: PeerKey
  /** When the exchange accepted it. */
  readonly acceptedAt: string
  /** Those that this agent sent now or earlier. */
  readonly receipts: readonly ReceiptResource[]
}
