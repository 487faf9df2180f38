import { verifyCapsule, type CapsuleResult } from '@agent-exchange/log'
import type { CollectedCapsule } from '@agent-exchange/sdk'
import type { DeskAgent } from './desk-agent.ts'

/** The verdict of the offline verifier, with the keys of logs and witnesses that this agent relies on. */
export function verifiedEvidence(
  { profile, logPolicy }: Pick<DeskAgent, 'profile' | 'logPolicy'>,
  capsule: CollectedCapsule['capsule'],
): Promise<CapsuleResult> {
  return verifyCapsule(capsule, { require: 'unpinned', profile, ...(logPolicy && { policy: logPolicy }) })
}
