import { isEarlier } from '@agent-exchange/protocol'
import type { EvidenceBundle } from '../evidence/evidence-bundle.ts'
import type { EvidenceReport } from '../evidence/evidence-report.ts'
import { LOWERING_CODES, SIGNATURE_CODES } from '../verdict/check-codes.ts'
import type { Check, CheckValues } from '../verdict/check.ts'
import {
  CAPSULE_LEVELS,
  type CapsuleLevel,
  type CapsuleResult,
  type DisclosedContent,
  type Fingerprint,
  type KeyStory,
  type ShownKeyEvents,
} from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'
import { packageStories } from './package-story.ts'
import { eventsByKey, type LoggedKeyEvent } from './verify-key-leaves.ts'

/** What the steps of a verification found. */
interface Found {
  readonly bundle: Omit<EvidenceBundle, 'format'>
  readonly report: EvidenceReport
  readonly checks: readonly Check[]
  readonly version: 1 | 2 | 3
  /** By package, up to when the exchange states that nothing more was recorded. */
  readonly ends?: ReadonlyMap<string, string>
  /** Undefined where the checkpoint does not hold, or where there is none. */
  readonly log?: OpenedLog
  readonly logged?: readonly LoggedKeyEvent[]
  /** By package, the content that a party discloses. */
  readonly disclosed?: ReadonlyMap<string, DisclosedContent>
}

interface Asked {
  readonly require?: Exclude<CapsuleLevel, 'signed-only'>
  readonly strict?: boolean
}

/** The verdict: nothing is decided after this. */
export function conclude(
  { bundle, report, checks, version, ends = new Map(), log, logged = [], disclosed }: Found,
  { require: required = 'log-signed', strict: isStrict = false }: Asked,
): CapsuleResult {
  const contradictions = checks.filter(({ result }) => result === 'fails')
  const isContradicted = contradictions.length > 0
  const level = levelOf(checks, log)
  const isReached = CAPSULE_LEVELS.indexOf(level) >= CAPSULE_LEVELS.indexOf(required)
  const isEnough = isReached && !(isStrict && checks.some(({ result }) => result === 'doubt'))
  const completeUpTo = earliestOf(bundle.packages.map(({ metadata }) => ends.get(metadata.package_id)))
  return {
    word: isContradicted ? 'broken' : isEnough && level === 'witnessed' ? 'proven' : 'consistent',
    outcome: isContradicted ? 'contradiction' : isEnough ? 'meets' : 'below',
    exitCode: isContradicted ? 1 : isEnough ? 0 : 3,
    level: isContradicted ? undefined : level,
    required,
    isStrict,
    version,
    threadId: bundle.thread_id,
    ...(completeUpTo !== undefined && { completeUpTo }),
    contradictions,
    checks,
    exchangeClaims: report.exchangeClaims,
    states: report.states,
    ...(report.chainEnd && { chainEnd: report.chainEnd }),
    // What contradicts itself shows nobody's content.
    packages: packageStories(bundle, report, { ends, ...(!isContradicted && { disclosed }) }),
    shownKeyEvents: log ? shownKeyEvents(checks, logged) : [],
    fingerprints: fingerprintsOf(report, log),
    keys: log ? keyStories(logged, log) : [],
    checkpoint: log?.story,
  }
}

/** The least that holds for every entry and key: one that no log proves makes the whole the exchange's word. */
function levelOf(checks: readonly Check[], log: OpenedLog | undefined): CapsuleLevel {
  const isLowered = checks.some(({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code))
  if (!log || isLowered) return 'signed-only'
  if (!log.story.isPinned) return 'unpinned'
  return log.story.isQuorumMet ? 'witnessed' : 'log-signed'
}

/** Undefined where the exchange does not say it of every package. */
function earliestOf(times: readonly (string | undefined)[]): string | undefined {
  let [earliest] = times
  for (const time of times) {
    if (time === undefined || earliest === undefined) return undefined
    if (isEarlier(time, earliest)) earliest = time
  }
  return earliest
}

/** How far the capsule shows the key events of each agent that signed. */
function shownKeyEvents(checks: readonly Check[], logged: readonly LoggedKeyEvent[]): ShownKeyEvents[] {
  const last = new Map<string, number>()
  for (const { code, result, agent_id } of checks)
    if (agent_id !== undefined && result !== 'fails' && isUseOfKey(code)) last.set(agent_id, 0)
  for (const { event } of logged) {
    const through = last.get(event.agent_id)
    if (through !== undefined) last.set(event.agent_id, Math.max(through, event.number))
  }
  return [...last].map(([agentId, through]) => ({ agentId, through }))
}

function isUseOfKey(code: Check['code']): boolean {
  return SIGNATURE_CODES.has(code) || code === 'acceptance_key'
}

function fingerprintsOf({ exchangeClaims }: EvidenceReport, log: OpenedLog | undefined): Fingerprint[] {
  const keys = exchangeClaims.flatMap(({ code, value }): Fingerprint[] => {
    if (code !== 'key_record') return []
    const record = value as { fingerprint: string; agent_id: string; key: { key_id: string } }
    return [{ of: 'key', agentId: record.agent_id, keyId: record.key.key_id, value: record.fingerprint }]
  })
  return log ? [{ of: 'log', origin: log.story.origin, value: log.story.key }, ...keys] : keys
}

function keyStories(logged: readonly LoggedKeyEvent[], log: OpenedLog): KeyStory[] {
  return [...eventsByKey(logged).values()].flatMap((own): KeyStory[] => {
    const [first] = own
    if (!first) return []
    const { agent_id: agentId, organization_id: organizationId, key_id: keyId, thumbprint } = first.event
    const events = own.map(({ event, index }) => ({
      kind: event.kind,
      number: event.number,
      index,
      recordedAt: event.recorded_at,
      ...(event.invalid_from !== undefined && { invalidFrom: event.invalid_from }),
      ...log.boundsOf(index),
    }))
    return [{ agentId, organizationId, keyId, thumbprint, events }]
  })
}

export function unreadable(
  faults: readonly CheckValues[],
  { require: required = 'log-signed', strict: isStrict = false }: Asked,
): CapsuleResult {
  return {
    word: 'unreadable',
    outcome: 'unreadable',
    exitCode: 2,
    level: undefined,
    required,
    isStrict,
    version: undefined,
    threadId: undefined,
    contradictions: [],
    checks: faults.map((values) => ({ code: 'capsule_readable', result: 'fails', values })),
    exchangeClaims: [],
    states: [],
    packages: [],
    shownKeyEvents: [],
    fingerprints: [],
    keys: [],
    checkpoint: undefined,
  }
}
