import type {
  CapsuleLevel,
  CapsuleResult,
  CheckpointStory,
  Contradiction,
  UnprovedFact,
} from './capsule-result.ts'

export interface Verdict {
  readonly level: CapsuleLevel
  readonly threadId: string
  readonly entries: number
  readonly checkpoint: CheckpointStory | undefined
  /** The earliest time by which the quorum had seen the checkpoint. */
  readonly seenBy: string | undefined
  /** Up to when the exchange states that nothing more was recorded. */
  readonly completeUpTo: string | undefined
  /** Why the level is no more than the exchange's word. */
  readonly lowered: readonly UnprovedFact[]
  readonly doubts: readonly string[]
}

/** The verdict as one sentence that a lawyer can quote. */
export function verdictSentence(verdict: Verdict): string {
  const [doubt, ...more] = verdict.doubts
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  const look = doubt === undefined ? '' : `; a person should look at ${doubt}${others}`
  const { completeUpTo } = verdict
  const complete =
    completeUpTo === undefined ? '' : `; complete up to ${completeUpTo}, by the exchange's signed statement`
  return `${levelText(verdict)}${complete}${look}.`
}

function levelText({ level, threadId, entries, checkpoint, seenBy, lowered }: Verdict): string {
  const all = `all ${entries} recorded events of thread ${threadId} that this capsule shows`
  const log = checkpoint?.origin ?? ''
  if (level === 'witnessed')
    return (
      `This capsule proves that ${all} are in the append-only log ${log}, in the order shown and under keys that ` +
      `were logged before they signed, and that ${checkpoint?.cosigned} of ${checkpoint?.of} witnesses ` +
      `named in the verifier's policy cosigned that log${seenBy === undefined ? '' : ` by ${seenBy}`}`
    )
  if (level === 'log-signed')
    return (
      `This capsule proves that ${all} are in the log ${log}, in the order shown and under keys that were logged ` +
      `before they signed, as signed by the log key in the verifier's policy; no sufficient number of witnesses ` +
      `confirms that everybody sees the same log`
    )
  if (level === 'unpinned')
    return (
      `This capsule is consistent in itself, but proves nothing about a log that the verifier knows: ${all} are in ` +
      `a log ${log} whose key is in no policy that the verifier gave, so compare the fingerprints`
    )
  const [first, ...more] = lowered
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return (
    `The signatures in this evidence of thread ${threadId} hold, but no log proves every recorded event and key ` +
    `in it, so its completeness, order and times rest on the exchange's word` +
    (first === undefined ? '' : `; not proved is ${first.what}${others}`)
  )
}

/** How far the verdict goes: nobody can prove that a key was not revoked afterwards. Undefined without a log. */
export function keyScope({ shownKeyEvents: shown, level }: CapsuleResult): string | undefined {
  if (level === undefined || shown.length === 0) return undefined
  const each = shown.map(({ agentId, through }) =>
    through === 0 ? `none of ${agentId}` : `those of ${agentId} up to number ${through}`,
  )
  return `Key events shown: ${each.join(', ')}. A later revocation would not show.`
}

export function contradictionSentence([first, ...more]: readonly Contradiction[]): string {
  const others = more.length === 0 ? '' : ` (${more.length} more contradictions follow)`
  return `This capsule contradicts itself and must not be relied on: ${first?.what ?? ''}${others}`
}

export function unreadableSentence(faults: readonly string[]): string {
  return `This file is not a capsule that can be read: ${faults[0] ?? 'it is empty'}.`
}
