import type { Capsule, CapsuleV3, EvidenceBundle } from '@agent-exchange/log'

/** Of any format. */
export type CollectedEvidence = EvidenceBundle | Capsule | CapsuleV3
