import type { Capsule } from '@agent-exchange/log'
import { EVIDENCE_FORMAT, type EvidenceBundle } from '@agent-exchange/sdk'

export function isCapsule(found: EvidenceBundle | Capsule): found is Capsule {
  return 'log' in found
}

/** The evidence of a capsule, without its proofs from the transparency log. */
export function withoutLog(found: EvidenceBundle | Capsule): EvidenceBundle {
  if (!isCapsule(found)) return found
  const { log: _, ...rest } = found
  return { ...rest, format: EVIDENCE_FORMAT }
}
