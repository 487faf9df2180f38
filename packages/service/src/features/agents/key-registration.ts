import type { DeploymentProfile, PublicKeyRequest } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import type { Call } from '../../kernel/call.ts'
import { appendKeyEvents, type KeyEvent } from '../../kernel/key-events.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireWithin } from '../organizations/usage-store.ts'
import { readKeyMaterial, type KeyMaterial } from './key-material.ts'
import { insertKeys, setKeyStatus, type KeyRow } from './key-store.ts'
import { inZulu } from './resources.ts'

/** A requested key with its parsed material. */
export interface RequestedKey {
  readonly request: PublicKeyRequest
  readonly material: KeyMaterial
  /** JSON pointer to the key in the body. */
  readonly pointer: string
}

export async function readRequestedKey(
  request: PublicKeyRequest,
  pointer: string,
  profile: DeploymentProfile,
): Promise<RequestedKey> {
  return { request, pointer, material: await readKeyMaterial(request, `${pointer}/public_key`, profile) }
}

/** The rows and events of adding keys to an agent. */
interface KeyPlan {
  readonly added: readonly KeyRow[]
  /** Existing keys that are replaced, with their new status. */
  readonly retired: readonly KeyRow[]
  readonly events: readonly KeyEvent[]
}

/**
 * Adds keys to an agent that the caller has locked. Key material is registered once per use, and never again after a
 * revocation, because revoking an id must revoke its material.
 */
export async function addKeys(
  tx: Transaction,
  call: RegistrationCall,
  agentId: string,
  { present, keys }: { present: readonly KeyRow[]; keys: readonly RequestedKey[] },
): Promise<readonly KeyRow[]> {
  requireWithin(call.context.profile, 'keys_per_agent', present.length + keys.length)
  if (keys.length === 0) return []
  const { added, retired, events } = planKeys(call, agentId, { present, keys })
  await insertKeys(tx, added)
  for (const key of retired) await setKeyStatus(tx, key)
  await appendKeyEvents(tx, events)
  return added
}

type RegistrationCall = Call<'registerAgent'> | Call<'registerAgentKey'>

function planKeys(
  call: RegistrationCall,
  agentId: string,
  { present, keys }: { present: readonly KeyRow[]; keys: readonly RequestedKey[] },
): KeyPlan {
  const known = new Map(present.map((row) => [row.key_id, row]))
  const retired: KeyRow[] = []
  const events: KeyEvent[] = []
  for (const key of keys) {
    const replaced = replacedKey(known, key)
    requireDistinct(known, key)
    const row = toKeyRow(key, agentId, call.now)
    known.set(row.key_id, row)
    events.push(registeredEvent(call, row))
    if (replaced?.status !== 'active' || call.context.profile['O-05'].replaced_key_status !== 'retiring')
      continue
    const retiring = { ...replaced, status: 'retiring' as const }
    known.set(retiring.key_id, retiring)
    if (present.includes(replaced)) retired.push(retiring)
    events.push({
      ...eventBy(call, agentId, retiring.key_id),
      kind: 'retiring',
      details: { replaced_by: row.key_id, correlation_id: call.correlationId },
    })
  }
  return { added: [...known.values()].slice(present.length), retired, events }
}

function toKeyRow({ request, material }: RequestedKey, agentId: string, now: string): KeyRow {
  return {
    agent_id: agentId,
    key_id: request.key_id,
    use: request.use,
    public_jwk: material.publicJwk,
    thumbprint: material.thumbprint,
    valid_from: inZulu(request.valid_from),
    replaces_key_id: request.replaces_key_id ?? null,
    status: 'active',
    registered_at: now,
    revoked_at: null,
    invalid_from: null,
  }
}

function registeredEvent(call: RegistrationCall, row: KeyRow): KeyEvent {
  return {
    ...eventBy(call, row.agent_id, row.key_id),
    kind: 'registered',
    details: {
      use: row.use,
      thumbprint: row.thumbprint,
      valid_from: row.valid_from,
      replaces_key_id: row.replaces_key_id,
      correlation_id: call.correlationId,
    },
  }
}

function requireDistinct(
  known: ReadonlyMap<string, KeyRow>,
  { request, material, pointer }: RequestedKey,
): void {
  if (known.has(request.key_id)) throw new Problem('identifier_conflict', { pointer: `${pointer}/key_id` })
  if ([...known.values()].some((other) => isSameKey(other, request, material))) throw notDistinct(pointer)
}

function isSameKey(other: KeyRow, request: PublicKeyRequest, material: KeyMaterial): boolean {
  if (other.thumbprint !== material.thumbprint) return false
  return other.use === request.use || other.status === 'revoked' || other.key_id === request.replaces_key_id
}

/** ID-03, O-05. A revoked key may be replaced, as after a compromise. A retiring key has already been replaced. */
function replacedKey(
  known: ReadonlyMap<string, KeyRow>,
  { request, pointer }: RequestedKey,
): KeyRow | undefined {
  const id = request.replaces_key_id
  if (id === undefined) return undefined
  if (id === request.key_id) throw notDistinct(pointer)
  const replaced = known.get(id)
  if (!replaced) throw unusableReplacement(pointer, 'Name a registered key of this agent.')
  if (replaced.use !== request.use) throw unusableReplacement(pointer, 'Name a key of the same use.')
  if (replaced.status === 'retiring' || replaced.status === 'retired') {
    throw new Problem('invalid_state_transition', { state: replaced.status })
  }
  return replaced
}

function notDistinct(pointer: string): Problem {
  return new Problem('key_not_distinct', { pointer })
}

function unusableReplacement(pointer: string, message: string): Problem {
  const failures = [{ pointer: `${pointer}/replaces_key_id`, rule: 'O-05', message }]
  return new Problem('validation_failed', { failures })
}

/** The common members of all key events of a request. */
export function eventBy(
  { caller, now, context }: Pick<Call<'revokeAgentKey'>, 'caller' | 'now' | 'context'>,
  agentId: string,
  keyId: string,
) {
  return { eventId: context.newId('keyevent'), agentId, keyId, recordedAt: now, actor: caller.clientId }
}
