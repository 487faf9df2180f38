import type { DeploymentProfile, PublicKeyRequest } from '@agent-exchange/protocol'
import type { Call } from '../../kernel/call.ts'
import type { Transaction } from '../../db/database.ts'
import { Problem } from '../../kernel/problem.ts'
import { readKeyMaterial, type KeyMaterial } from './key-material.ts'
import { appendKeyEvent, insertKey, setKeyStatus, type KeyRow } from './key-store.ts'
import { inZulu } from './resources.ts'

/** A key as it was asked for, with the material that was read out of it. */
export interface RequestedKey {
  readonly request: PublicKeyRequest
  readonly material: KeyMaterial
  /** Where it stands in the body. */
  readonly pointer: string
}

export async function readRequestedKey(
  request: PublicKeyRequest,
  pointer: string,
  profile: DeploymentProfile,
): Promise<RequestedKey> {
  return { request, pointer, material: await readKeyMaterial(request, `${pointer}/public_key`, profile) }
}

/**
 * Adds a key to those that the agent has; the caller holds the agent's lock. Material stands once per use, and
 * never again once it was revoked: revoking an id has to end the material behind it.
 */
export async function addKey(
  tx: Transaction,
  call: Call<'registerAgent'> | Call<'registerAgentKey'>,
  { agentId, present, key }: { agentId: string; present: readonly KeyRow[]; key: RequestedKey },
): Promise<{ readonly added: KeyRow; readonly present: readonly KeyRow[] }> {
  const { request, material, pointer } = key
  const replaced = replacedKey(present, key)
  if (present.some(({ key_id }) => key_id === request.key_id)) {
    throw new Problem('identifier_conflict', { pointer: `${pointer}/key_id` })
  }
  if (present.some((other) => isSameKey(other, request, material))) throw notDistinct(pointer)

  const row: KeyRow = {
    agent_id: agentId,
    key_id: request.key_id,
    use: request.use,
    public_jwk: material.publicJwk,
    thumbprint: material.thumbprint,
    valid_from: inZulu(request.valid_from),
    replaces_key_id: request.replaces_key_id ?? null,
    status: 'active',
    registered_at: call.now,
    revoked_at: null,
    invalid_from: null,
  }
  await insertKey(tx, row)
  await appendKeyEvent(tx, {
    ...eventBy(call, agentId, row.key_id),
    kind: 'registered',
    details: {
      use: row.use,
      thumbprint: row.thumbprint,
      valid_from: row.valid_from,
      replaces_key_id: row.replaces_key_id,
      correlation_id: call.correlationId,
    },
  })
  const retires =
    replaced?.status === 'active' && call.context.profile['O-05'].replaced_key_status === 'retiring'
  if (!retires) return { added: row, present: [...present, row] }
  await setKeyStatus(tx, replaced, 'retiring')
  await appendKeyEvent(tx, {
    ...eventBy(call, agentId, replaced.key_id),
    kind: 'retiring',
    details: { replaced_by: row.key_id, correlation_id: call.correlationId },
  })
  const others = present.map((other) =>
    other === replaced ? { ...other, status: 'retiring' as const } : other,
  )
  return { added: row, present: [...others, row] }
}

function isSameKey(other: KeyRow, request: PublicKeyRequest, material: KeyMaterial): boolean {
  if (other.thumbprint !== material.thumbprint) return false
  return other.use === request.use || other.status === 'revoked' || other.key_id === request.replaces_key_id
}

/** ID-03, O-05. A revoked key may be replaced: that is what follows a compromise. A retiring one already was. */
function replacedKey(present: readonly KeyRow[], { request, pointer }: RequestedKey): KeyRow | undefined {
  const id = request.replaces_key_id
  if (id === undefined) return undefined
  if (id === request.key_id) throw notDistinct(pointer)
  const replaced = present.find(({ key_id }) => key_id === id)
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
  const failures = [{ pointer: `${pointer}/replaces_key_id`, rule: 'ID-03', message }]
  return new Problem('validation_failed', { failures })
}

/** What all key events of a request have in common. */
export function eventBy(
  { caller, now, context }: Pick<Call<'revokeAgentKey'>, 'caller' | 'now' | 'context'>,
  agentId: string,
  keyId: string,
) {
  return { eventId: context.newId('keyevent'), agentId, keyId, recordedAt: now, actor: caller.clientId }
}
