import type { CapsuleResult, KeyStory, PackageStory, TimeBounds } from '../capsule/capsule-result.ts'
import { SIGNATURE_CODES } from '../verdict/check-codes.ts'
import type { Check, ExchangeClaim } from '../verdict/check.ts'
import { checkDetail, checkText, placedText, placeText, claimText } from './check-text.ts'
import { packageText } from './package-text.ts'
import { organizationText, type Reader } from './reader.ts'
import { closed, keyScope, verdictSentence } from './verdict-sentence.ts'

/** A verdict in words. Every renderer shows this structure, in this order. */
export interface VerdictReport {
  /** One word with its sentence, which can be quoted. */
  readonly sentence: string
  readonly tone: 'good' | 'warn' | 'bad'
  readonly facts: readonly ReportRow[]
  /** What a reader needs, on one sheet. */
  readonly sections: readonly ReportSection[]
  /** Everything else: for whoever wants to check. */
  readonly details: readonly ReportSection[]
}

export interface ReportRow {
  readonly name: string
  readonly value: string
}

export interface ReportSection {
  readonly title: string
  readonly items: readonly string[]
  /** Shown line by line under the items. */
  readonly text?: string
  /** Too long for a terminal. */
  readonly isLong?: true
}

const TONES = { proven: 'good', consistent: 'warn', broken: 'bad', unreadable: 'bad' } as const

/** The verdict for people. It decides nothing: everything comes from the result. */
export function describeVerdict(result: CapsuleResult, reader: Reader = {}): VerdictReport {
  const isBroken = result.word === 'broken'
  const contradictions = section(
    'Contradictions',
    result.contradictions.map((check) => `${closed(placedText(check))} [${check.code}]`),
  )
  const story = section(
    isBroken ? 'What the file claims' : 'What happened',
    result.packages.map((each) => packageText(each, reader)),
  )
  return {
    sentence: verdictSentence(result, reader),
    tone: TONES[result.word],
    facts: factsOf(result, reader),
    sections: [
      ...contradictions,
      ...(isBroken ? [] : story),
      ...result.packages.flatMap((each) => disclosedContent(each, reader)),
      ...section('Not proved', openItems(result)),
      ...section('Unreadable', result.word === 'unreadable' ? result.checks.map(checkText) : []),
    ],
    details: [
      ...(isBroken ? story : []),
      ...section('Signatures that hold', result.checks.filter(isHeldSignature).map(signatureText)),
      ...section('Checkpoint of the log', checkpointLines(result)),
      ...section('Keys in the log', result.keys.flatMap(keyLines)),
      ...section('Only the exchange says', claimLines(result)),
      ...section('Fingerprints to compare with their owners', fingerprintLines(result)),
      ...section('End of the chain, for --anchor another time', chainEndLines(result)),
      ...section('What only the exchange says, in full', result.exchangeClaims.map(claimLine), true),
      ...section('Every check', result.checks.map(checkLine), true),
    ],
  }
}

function section(title: string, items: readonly string[], isLong = false): ReportSection[] {
  return items.length === 0 ? [] : [{ title, items, ...(isLong && { isLong }) }]
}

function disclosedContent({ packageId, from, disclosed }: PackageStory, reader: Reader): ReportSection[] {
  if (!disclosed) return []
  const { by, isProved, text } = disclosed
  const basis = isProved ? 'proved' : 'claimed by its sender alone'
  const shownBy = `Disclosed by ${by.agentId} of ${organizationText(by.organizationId, reader)}; ${basis}.`
  const sealedBy = organizationText(from.organizationId, reader)
  return [
    { title: `Content of ${packageId}, as sealed by ${sealedBy}`, items: [shownBy], text: inLines(text) },
  ]
}

function inLines(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function factsOf(result: CapsuleResult, reader: Reader): ReportRow[] {
  const { level, required, isStrict, outcome, threadId, version } = result
  if (outcome === 'unreadable') return []
  const reached = outcome === 'meets' ? 'reached' : 'not reached'
  const scope = keyScope(result)
  return [
    { name: 'Thread', value: threadId ?? '' },
    { name: 'Level', value: level ?? 'none' },
    { name: 'Required', value: `${required}${isStrict ? ' without doubts' : ''}; ${reached}` },
    { name: 'Format', value: String(version ?? '') },
    ...(scope === undefined ? [] : [{ name: 'Keys', value: scope }]),
    ...(hasNames(result, reader)
      ? [{ name: 'Names', value: 'from your own address book; nobody signed them' }]
      : []),
  ]
}

function hasNames({ packages }: CapsuleResult, { nameOf }: Reader): boolean {
  return packages.some(({ from, to }) =>
    [from, to].some(({ organizationId }) => nameOf?.(organizationId) !== undefined),
  )
}

/** Alike ones once: most are the same for each package and each key. */
function openItems({ checks, word }: CapsuleResult): string[] {
  if (word === 'unreadable') return []
  const open = checks.filter(({ result }) => result === 'unproved')
  const doubts = checks
    .filter(({ result }) => result === 'doubt')
    .map((check) => `${checkText(check)}; a person should look at it${inParentheses(checkDetail(check))}.`)
  const alike = Map.groupBy([...open.map(checkText), ...doubts], (text) => text)
  return [...alike].map(([text, all]) =>
    all.length === 1 ? closed(text) : `${closed(text)} (${all.length} times)`,
  )
}

function inParentheses(text: string): string {
  return text === '' ? '' : ` (${text})`
}

function isHeldSignature({ code, result }: Check): boolean {
  return SIGNATURE_CODES.has(code) && (result === 'holds' || result === 'doubt')
}

function signatureText(check: Check): string {
  const detail = checkDetail(check)
  return `${placedText(check)}${detail === '' ? '' : `: ${detail}`}`
}

function checkLine(check: Check): string {
  const place = placeText(check)
  const result = check.result === 'unproved' ? 'not proved' : check.result
  return `${result}: ${checkText(check)} [${check.code}${place === undefined ? '' : `, ${place}`}]`
}

/** Undefined where no witness says anything about the time. */
function boundsText({ after, before }: TimeBounds): string | undefined {
  if (after !== undefined && before !== undefined) return `between ${after} and ${before}`
  if (before !== undefined) return `by ${before}`
  return after === undefined ? undefined : `after ${after}`
}

function checkpointLines({ checkpoint }: CapsuleResult): string[] {
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

function keyLines({ agentId, organizationId, keyId, thumbprint, events }: KeyStory): string[] {
  return [
    `${keyId} of ${agentId} (${organizationId}), fingerprint ${thumbprint}`,
    ...events.map(({ kind, number, index, recordedAt, invalidFrom, ...bounds }) =>
      [
        `${keyId}: ${kind} as event ${number}, leaf ${index}, recorded ${recordedAt}`,
        invalidFrom === undefined ? undefined : `not valid from ${invalidFrom} on`,
        boundsText(bounds),
      ]
        .filter((part) => part !== undefined)
        .join(', '),
    ),
  ]
}

function claimLines({ exchangeClaims }: CapsuleResult): string[] {
  return [...Map.groupBy(exchangeClaims, ({ code }) => code)].map(
    ([code, all]) => `${claimText({ code })} (${all.length})`,
  )
}

function claimLine(claim: ExchangeClaim): string {
  const place = placeText(claim)
  return `${claimText(claim)}${place === undefined ? '' : ` (${place})`}: ${JSON.stringify(claim.value)}`
}

function chainEndLines({ chainEnd }: CapsuleResult): string[] {
  return chainEnd ? [`${chainEnd.position}=${chainEnd.hash}`] : []
}

function fingerprintLines({ fingerprints }: CapsuleResult): string[] {
  return fingerprints.map((each) =>
    each.of === 'log'
      ? `log ${each.origin}: ${each.value}`
      : `signing key ${each.keyId} of ${each.agentId}: ${each.value}`,
  )
}
