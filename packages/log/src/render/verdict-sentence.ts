import type { CapsuleResult, PackageStory, VerdictWord } from '../capsule/capsule-result.ts'
import { LOWERING_CODES } from '../verdict/check-codes.ts'
import { checkDetail, checkText, placedText } from './check-text.ts'
import { packageClause } from './package-text.ts'
import type { Reader } from './reader.ts'
import { dayText, timeText } from './time-text.ts'

const VERDICT_TITLES: Record<VerdictWord, string> = {
  proven: 'Proven',
  consistent: 'Consistent, but not proven',
  broken: 'Broken',
  unreadable: 'Unreadable',
}

/** The verdict as a person can quote it: what happened, up to when that is complete, and what it rests on. */
export function verdictSentence(result: CapsuleResult, reader: Reader = {}): string {
  const title = VERDICT_TITLES[result.word]
  if (result.word === 'unreadable') return `${title}: ${unreadableText(result)}`
  if (result.word === 'broken') return `${title}: ${brokenText(result)}`
  const parts = [
    `${title}: ${storyText(result.packages, reader)}.`,
    completeText(result, reader),
    ...backdatingText(result),
    ...(result.word === 'proven' ? [] : [shortfallText(result)]),
    ...doubtText(result),
  ]
  return parts.join(' ')
}

function storyText(packages: readonly PackageStory[], reader: Reader): string {
  const [first, ...more] = packages
  if (!first) return 'it shows no package'
  if (more.length === 0) return packageClause(first, 'this package', reader)
  const times = packages
    .flatMap(({ acceptedAt }) => (acceptedAt === undefined ? [] : [acceptedAt]))
    .toSorted()
  const [from, to] = [times[0], times.at(-1)].map((time) => time && dayText(time, reader))
  const span = from === undefined ? '' : from === to ? ` on ${from}` : ` from ${from} to ${to}`
  const states = [
    ...Map.groupBy(packages, ({ signedState }) => signedState?.replaceAll('_', ' ') ?? 'in no state'),
  ].map(([state, all]) => `${all.length} ${state}`)
  return (
    `${packageClause(first, `the first of ${packages.length} packages`, reader)}; signatures prove of ` +
    `these packages${span}: ${states.join(', ')}`
  )
}

/** Of the packages that are shown: nobody states how many a thread has. */
function completeText({ completeUpTo, packages }: CapsuleResult, reader: Reader): string {
  if (completeUpTo === undefined) return 'Nobody states what came later.'
  const what = packages.length === 1 ? 'Complete' : 'Complete for these packages'
  return `${what} up to ${timeText(completeUpTo, reader)}, by the exchange's signed statement.`
}

/** Witnesses confirm how early entries were recorded only where a checkpoint from before is shown. */
function backdatingText({ checks, level }: CapsuleResult): string[] {
  const unbounded = checks.filter(
    ({ code, result }) => code === 'earlier_checkpoint' && result === 'unproved',
  )
  // At a lower level no witness bounds any time, and the shortfall says so.
  if (level !== 'witnessed' || unbounded.length === 0) return []
  const count = unbounded.reduce((sum, { values }) => sum + Number(values?.['entries']), 0)
  const entries = count === 1 ? '1 entry' : `${count} entries`
  return [
    `${entries} may have been recorded later than stated: no witnessed checkpoint from before is shown.`,
  ]
}

/** Why it is not proven, in one sentence. */
function shortfallText({ checks, level, checkpoint, version }: CapsuleResult): string {
  if (level === 'signed-only') {
    if (version !== 3)
      return `It rests on the exchange's word: evidence of format ${version} does not bind all metadata, and records can be left out of it.`
    const lowered = checks.filter(({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code))
    const [first] = lowered
    const more = lowered.length > 1 ? ` (and ${lowered.length - 1} more)` : ''
    return `It rests on the exchange's word. Not proved: ${first ? placedText(first) : ''}${more}`
  }
  if (level === 'unpinned')
    return `No log key of your policy signed the log ${checkpoint?.origin ?? ''}: compare the fingerprints.`
  if (level === 'log-signed')
    return 'The log key of your policy signed the log; not enough witnesses confirm that everybody sees the same one.'
  return 'It is below what was required.'
}

function doubtText({ checks }: CapsuleResult): string[] {
  const [first, ...more] = checks.filter(({ result }) => result === 'doubt')
  if (!first) return []
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return [`A person should look at “${checkText(first)}” (${checkDetail(first) || 'in doubt'})${others}.`]
}

function brokenText({ contradictions }: CapsuleResult): string {
  const [first, ...more] = contradictions
  const others = more.length === 0 ? '' : ` ${more.length} more contradictions follow.`
  return `this file contradicts itself and must not be relied on. ${first ? closed(placedText(first)) : ''}${others}`
}

function unreadableText({ checks }: CapsuleResult): string {
  const [first] = checks
  return first ? closed(checkText(first)) : 'the file cannot be read.'
}

export function closed(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** How far the verdict goes: nobody can prove that a key was not revoked afterwards. Undefined without a log. */
export function keyScope({ shownKeyEvents: shown, level }: CapsuleResult): string | undefined {
  if (level === undefined || shown.length === 0) return undefined
  const each = shown.map(({ agentId, through }) =>
    through === 0 ? `none of ${agentId}` : `those of ${agentId} up to number ${through}`,
  )
  return `Key events shown: ${each.join(', ')}. A later revocation would not show.`
}
