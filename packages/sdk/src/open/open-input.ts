import type {
  PackageMetadata,
  PackageResource,
  PolicyReceiptResource,
  ProtocolObject,
  ReceiptResource,
} from '@agent-exchange/protocol'
import type { ExchangeError } from '../errors.ts'
import type { PeerKey } from '../peers/peer-directory.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { AgentAddress } from '../context.ts'
import type { DataSpace } from '../data-space/data-space.ts'

/** Steps in order; one `receipt` for each receipt sent. */
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
  /** Required for ds_x threads. */
  readonly dataSpace?: DataSpace
  /** Lets a sender read its own ds_x packages. */
  readonly outbox?: Outbox
  /** The last signed receipt to send. Defaults to `opened`. With `none`, failures send no receipt either. */
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
   * Ids and creation times of package and object. They may differ (PKG-09): an object may be written before it is
   * sealed, and a response has its own id.
   */
  readonly ids: { readonly package: string; readonly object: string }
  readonly createdAt: { readonly package: string; readonly object: string }
  /** Who wrote the object, by its own words. The signature is that of the sender (O-35). */
  readonly writtenBy: AgentAddress & { readonly humanId?: string }
  readonly sentBy: AgentAddress
  /** Key of the sending agent. Another agent of the addressed organization may send the response (O-46). */
  readonly senderKey: PeerKey
  /** When the exchange accepted it. */
  readonly acceptedAt: string
  /**
   * The exchange showed the sender another log than this agent. The content is sound; what the exchange says of times,
   * keys and order is not to be trusted. `details.file` is the proof.
   */
  readonly logConflict?: ExchangeError
  /** Receipts of this agent, of this call and earlier ones. */
  readonly receipts: readonly ReceiptResource[]
}
