import type { Capsule, CapsuleV3 } from '@agent-exchange/log'
import type { EvidenceBundle } from '@agent-exchange/sdk'

/** Of any format. */
export type CollectedEvidence = EvidenceBundle | Capsule | CapsuleV3
