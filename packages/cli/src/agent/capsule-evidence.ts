import {
  CAPSULE_V3_FORMAT,
  verifyCapsule,
  type Capsule,
  type CapsuleV3,
  type VerifyCapsuleOptions,
} from '@agent-exchange/log'
import {
  EVIDENCE_FORMAT,
  verifyEvidence,
  type EvidenceBundle,
  type EvidenceReport,
} from '@agent-exchange/sdk'
import { CommandFailure } from '../failure.ts'

/** Of any format. */
export type CollectedEvidence = EvidenceBundle | Capsule | CapsuleV3

export function isCapsule(found: CollectedEvidence): found is Capsule | CapsuleV3 {
  return 'log' in found
}

/** What signatures prove. The chains of format 3 start from the log, so they are verified with it. */
export async function reportOn(
  found: CollectedEvidence,
  options: VerifyCapsuleOptions,
): Promise<EvidenceReport> {
  if (found.format !== CAPSULE_V3_FORMAT) return verifyEvidence(withoutLog(found), options)
  const { evidence, sentence } = await verifyCapsule(found, options)
  if (!evidence) throw new CommandFailure(sentence)
  return evidence
}

function withoutLog(found: EvidenceBundle | Capsule): EvidenceBundle {
  if (!('log' in found)) return found
  const { log: _, ...rest } = found
  return { ...rest, format: EVIDENCE_FORMAT }
}
