import type { LogPolicy, PolicyWitness, QuorumMember } from './policy.ts'
import type { VerifiedSignature } from './verify-note.ts'

/** A witness of the policy that cosigned, with the earliest and the latest time at which it did. */
export interface Cosignature {
  readonly witness: PolicyWitness
  readonly earliest: number
  readonly latest: number
}

export interface Witnessing {
  readonly cosignatures: readonly Cosignature[]
  /** How many of the witnesses below cosigned. */
  readonly counted: number
  /** Witnesses that count towards the quorum. */
  readonly of: number
  /** False for `quorum none`: nobody has to have witnessed, so nothing is witnessed. */
  readonly isMet: boolean
  /** Where the quorum is met: enough witnesses saw the checkpoint by then. Seconds since 1970. */
  readonly seenBy?: number
  /** Where the quorum is met: enough witnesses had seen no larger tree at this time. Seconds since 1970. */
  readonly newestAt?: number
}

/** C2SP tlog-policy, "k of n": who of the policy's witnesses cosigned, and whether they are enough. */
export function evaluateQuorum(
  { witnesses, quorum }: LogPolicy,
  signatures: readonly VerifiedSignature[],
): Witnessing {
  const cosignatures = witnesses.flatMap((witness): Cosignature[] => {
    const times = signatures.flatMap(({ key, time }) =>
      key.name === witness.key.name && key.id === witness.key.id && time !== undefined ? [time] : [],
    )
    if (times.length === 0) return []
    return [{ witness, earliest: Math.min(...times), latest: Math.max(...times) }]
  })
  const named = new Set(quorum === undefined ? [] : witnessesUnder(quorum).map(({ name }) => name))
  const of = named.size
  const counted = cosignatures.filter(({ witness }) => named.has(witness.name)).length
  const isMetBy = (some: readonly Cosignature[]) =>
    quorum !== undefined && isWitnessed(quorum, new Set(some.map(({ witness }) => witness.name)))
  const isMet = isMetBy(cosignatures)
  if (!isMet) return { cosignatures, counted, of, isMet }
  const seenBy = cosignatures
    .map(({ earliest }) => earliest)
    .toSorted((a, b) => a - b)
    .find((time) => isMetBy(cosignatures.filter(({ earliest }) => earliest <= time)))
  const newestAt = cosignatures
    .map(({ latest }) => latest)
    .toSorted((a, b) => b - a)
    .find((time) => isMetBy(cosignatures.filter(({ latest }) => latest >= time)))
  return {
    cosignatures,
    counted,
    of,
    isMet,
    ...(seenBy !== undefined && { seenBy }),
    ...(newestAt !== undefined && { newestAt }),
  }
}

function isWitnessed(member: QuorumMember, names: ReadonlySet<string>): boolean {
  if (member.kind === 'witness') return names.has(member.name)
  return member.members.filter((each) => isWitnessed(each, names)).length >= member.threshold
}

/** The witnesses on which the quorum rests. */
export function witnessesUnder(member: QuorumMember): PolicyWitness[] {
  return member.kind === 'witness' ? [member] : member.members.flatMap(witnessesUnder)
}
