import { jwkThumbprint, type PublicJwk } from '@agent-exchange/crypto'
import type { KeyRecord } from '../evidence/evidence-bundle.ts'
import type { Capsule } from './capsule-format.ts'
import type { Checks } from '../verdict/check.ts'
import { eventsByKey, keyName, type LoggedKeyEvent } from './verify-key-leaves.ts'

const REGISTERED = 'registered'
const REVOKED = 'revoked'

/** The keys that the evidence shows are those of the log, with the same history. */
export async function verifyKeyRecords(
  { keys }: Capsule,
  logged: readonly LoggedKeyEvent[],
  checks: Checks,
): Promise<void> {
  const byKey = eventsByKey(logged)
  for (const record of keys) {
    const { key, agent_id: agentId } = record
    const own = byKey.get(keyName(agentId, key.key_id)) ?? []
    const about = { agent_id: agentId, key_id: key.key_id }
    const thumbprint = await jwkThumbprint(key.public_key as PublicJwk)
    const isSame = own.every(
      ({ event }) =>
        event.thumbprint === thumbprint &&
        event.organization_id === record.organization_id &&
        event.use === key.use &&
        event.valid_from === key.valid_from,
    )
    if (own.length > 0) checks.check('key_record', isSame, { ...about, values: { thumbprint } })
    compareHistory(record, own, checks)
  }
}

/** Each event on one side has to be on the other; a directory, from which platform keys come, lists no events. */
function compareHistory(record: KeyRecord, own: readonly LoggedKeyEvent[], checks: Checks): void {
  const about = { agent_id: record.agent_id, key_id: record.key.key_id }
  const shown = record.events ?? eventsOf(record)
  const inLog = new Set(own.map(({ event }) => textOf(event.kind, event.recorded_at, event.invalid_from)))
  const inRecord = shown.map(({ kind, recorded_at, details }) =>
    textOf(kind, recorded_at, Reflect.get(details, 'invalid_from') as string | undefined),
  )
  const isListed = record.events !== undefined
  const known = new Set(inRecord)
  for (const { event } of own) {
    const isShown = known.has(textOf(event.kind, event.recorded_at, event.invalid_from))
    if (!isShown && (isListed || event.kind === REVOKED))
      checks.fails('key_history', { ...about, values: { kind: event.kind, number: event.number } })
  }
  if (!own.some(({ event }) => event.kind === REGISTERED)) checks.unproved('key_registration', about)
  const unlogged = shown.filter((_, at) => !inLog.has(inRecord[at] ?? ''))
  for (const { kind } of unlogged.filter((event) => event.kind !== REGISTERED))
    checks.unproved('key_event_proof', { ...about, values: { kind } })
}

function eventsOf({ key }: KeyRecord): NonNullable<KeyRecord['events']> {
  const registered = { kind: REGISTERED, recorded_at: key.registered_at, details: {} }
  const { invalid_from, revoked_at } = key
  if (invalid_from === undefined || revoked_at === undefined) return [registered]
  return [registered, { kind: REVOKED, recorded_at: revoked_at, details: { invalid_from } }]
}

function textOf(kind: string, recordedAt: string, invalidFrom: string | undefined): string {
  return JSON.stringify([kind, recordedAt, invalidFrom ?? null])
}
