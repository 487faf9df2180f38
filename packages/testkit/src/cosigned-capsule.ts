import {
  cosignNote,
  formatVerifierKey,
  withSignatures,
  type CapsuleV3,
  type KeyEventProof,
} from '@agent-exchange/log'
import { witnessSigners } from './capsule-of.ts'

/** A capsule that an exchange made, with its checkpoint cosigned by test witnesses, and a policy that asks for two. */
export async function cosignedCapsule(
  capsule: CapsuleV3,
  { cosigners = 2, cosignedAt = Math.ceil(Date.now() / 1_000) } = {},
): Promise<{ readonly capsule: CapsuleV3; readonly policy: string }> {
  const { checkpoint: before, key } = capsule.log
  const lines = await Promise.all(
    witnessSigners.slice(0, cosigners).map((witness, at) => cosignNote(before, witness, cosignedAt + at)),
  )
  const checkpoint = withSignatures(before, lines)
  // A proof ends with the checkpoint to which it leads.
  const led = <T extends { readonly proof: string }>(each: T): T => ({
    ...each,
    proof: each.proof.replace(before, checkpoint),
  })
  const key_events: readonly KeyEventProof[] = capsule.log.key_events.map(led)
  const policy = [
    `log ${key}`,
    ...witnessSigners.map((each, at) => `witness w${at} ${formatVerifierKey(each.key)}`),
    'group two 2 w0 w1 w2',
    'quorum two',
    '',
  ].join('\n')
  return {
    policy,
    capsule: {
      ...capsule,
      packages: capsule.packages.map((each) => ({ ...each, records: each.records.map(led) })),
      log: { ...capsule.log, checkpoint, key_events },
    },
  }
}
