import type { CapsuleResult, ProvedFact, TimeBounds } from './capsule-result.ts'
import { keyScope } from './verdict-sentence.ts'
import { visibleText } from './visible-text.ts'

/** The result for people, as plain text. Its first line is the verdict, a sentence that can be quoted. */
export function renderCapsuleText(result: CapsuleResult): string {
  const { sentence, level, required, isStrict, outcome, contradictions, proved, unproved, fingerprints } =
    result
  const lines = [
    sentence,
    ...[keyScope(result)].filter((line) => line !== undefined),
    '',
    `Level: ${level ?? 'none'} (required: ${required}${isStrict ? ' without doubts' : ''}; ${outcome === 'meets' ? 'reached' : 'not reached'})`,
    ...section(
      'Contradictions',
      contradictions.map(({ code, what }) => `${what} [${code}]`),
    ),
    ...section(
      'Packages',
      result.packages.map((story) => story.sentence),
    ),
    ...section('Proved', proved.map(provedText)),
    ...section('Checkpoint', checkpointLines(result)),
    ...section('Keys in the log', keyLines(result)),
    ...section(
      'Not proved',
      unproved.map(({ what, why }) => `${what}: ${why}`),
    ),
    ...section(
      'Only the exchange says',
      [...Map.groupBy(result.evidence?.exchangeWord ?? [], ({ what }) => what)].map(
        ([what, all]) => `${what} (${all.length})`,
      ),
    ),
    ...section(
      'Fingerprints to compare with their owners',
      fingerprints.map(({ of, value }) => `${of}: ${value}`),
    ),
  ]
  return `${lines.map(visibleText).join('\n')}\n`
}

function section(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : ['', `${title}:`, ...items.map((item) => `  - ${item}`)]
}

function provedText({ what, packageId, position, index, agentId, keyId, ...bounds }: ProvedFact): string {
  const details = [
    packageId,
    position === undefined ? undefined : `entry ${position}`,
    keyId === undefined ? undefined : `key ${keyId} of ${agentId ?? ''}`,
    index === undefined ? undefined : `leaf ${index}`,
    boundsText(bounds),
  ].filter((detail) => detail !== undefined)
  return details.length === 0 ? what : `${what} (${details.join(', ')})`
}

/** Undefined where no witness says anything about the time. */
export function boundsText({ after, before }: TimeBounds): string | undefined {
  if (after !== undefined && before !== undefined) return `between ${after} and ${before}`
  if (before !== undefined) return `by ${before}`
  return after === undefined ? undefined : `after ${after}`
}

export function checkpointLines({ checkpoint }: CapsuleResult): string[] {
  if (!checkpoint) return []
  const { origin, size, root, isPinned, witnesses, cosigned, of, ignored } = checkpoint
  return [
    `log ${origin}, size ${size}, root ${root}`,
    isPinned ? 'signed by a log key of the policy' : 'signed by a key that no policy of the verifier names',
    ...(of > 0 ? [`cosigned by ${cosigned} of ${of} witnesses of the quorum`] : []),
    ...witnesses.map(({ name, at }) => `witness ${name} cosigned at ${at}`),
    ...ignored.map((line) => `ignored: signature of ${line.split(' ')[0] ?? ''}`),
  ]
}

function keyLines({ keys }: CapsuleResult): string[] {
  return keys.flatMap(({ agentId, organizationId, keyId, thumbprint, events }) => [
    `${keyId} of ${agentId} (${organizationId}), fingerprint ${thumbprint}`,
    ...events.map(({ kind, number, index, recordedAt, invalidFrom, ...bounds }) =>
      [
        `  ${kind} as event ${number}, leaf ${index}, recorded ${recordedAt}`,
        invalidFrom === undefined ? undefined : `not valid from ${invalidFrom} on`,
        boundsText(bounds),
      ]
        .filter((part) => part !== undefined)
        .join(', '),
    ),
  ])
}
