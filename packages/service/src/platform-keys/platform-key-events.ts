import { hash } from 'node:crypto'
import type { Transaction } from '@agent-exchange/database'
import type { NewId } from '../kernel/ids.ts'
import { appendKeyEvents, type KeyEvent } from '../kernel/key-events.ts'
import type { PlatformKeyRow } from './key-store.ts'

type MissingEvent = Pick<PlatformKeyRow, 'key_id' | 'purpose' | 'public_jwk' | 'valid_from'> & {
  readonly kind: KeyEvent['kind']
  readonly at: string | null
  readonly invalid_from: string | null
}

export interface PlatformAgent {
  readonly agentId: string
  readonly newId: NewId
}

/**
 * Queues a leaf for every change of a webhook, token or log key that has none yet, also of keys from before the
 * transparency log. The caller holds the lock of the platform keys. Statement keys are keys of the platform's agent, and
 * the directory logs them.
 */
export async function logPlatformKeys(
  tx: Transaction,
  { agentId, newId }: PlatformAgent,
  now: string,
): Promise<void> {
  // The kinds are in the order of their names.
  const missing = await tx<MissingEvent[]>`
    select key_id, purpose, public_jwk, valid_from, kind, at, invalid_from
    from platform_key cross join lateral (values
      ('registered', created_at, true), ('retiring', null, status = 'retiring'),
      ('revoked', revoked_at, status = 'revoked')) as event (kind, at, has_happened)
    where purpose <> 'statement' and has_happened and not exists (
      select from agent_key_event as logged
      where logged.agent_id = ${agentId} and logged.key_id = platform_key.key_id and logged.kind = event.kind)
    order by created_at, key_id, kind`
  await appendKeyEvents(
    tx,
    missing.map((each) => toEvent(each, { eventId: newId('keyevent'), agentId, actor: agentId, now })),
  )
}

function toEvent(
  { key_id, purpose, public_jwk, valid_from, kind, at, invalid_from }: MissingEvent,
  { now, ...common }: Pick<KeyEvent, 'eventId' | 'agentId' | 'actor'> & { now: string },
): KeyEvent {
  const key = { use: purpose, thumbprint: thumbprintOf(public_jwk), valid_from }
  const ending = kind === 'revoked' && invalid_from !== null ? { invalid_from } : {}
  return { ...common, keyId: key_id, kind, recordedAt: at ?? now, details: { ...key, ...ending }, key }
}

/** RFC 7638, also of Ed25519 keys (RFC 8037, section 2), which have no `y`. */
function thumbprintOf(publicJwk: string): string {
  const { crv, kty, x, y } = JSON.parse(publicJwk) as Record<string, string>
  return hash('sha256', JSON.stringify({ crv, kty, x, ...(y !== undefined && { y }) }), 'base64url')
}
