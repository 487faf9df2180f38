import { CryptoError, importPublicJwk, jwkThumbprint, type PublicKey } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import type { KeyEventProof } from './capsule-format.ts'
import type { CapsuleKey } from './capsule-v3-format.ts'
import type { Checks } from '../verdict/check.ts'
import { placeLeaf, type Placed, type VerifiedTree } from './place-leaf.ts'
import { leafOfShownEvent } from './shown-key-event.ts'

/** A key event that the log holds. */
export interface LoggedEvent {
  readonly event: KeyEventProof
  readonly index: number
}

/** A key of the capsule with its events. */
export interface BoundKey {
  readonly key: CapsuleKey
  readonly publicKey: PublicKey
  readonly thumbprint: string
  readonly events: readonly LoggedEvent[]
}

/** The log holds every key event, and those of an agent are numbers 1 to n. */
export function verifyEventLeaves(
  events: readonly KeyEventProof[],
  tree: VerifiedTree,
  checks: Checks,
): LoggedEvent[] {
  const logged: LoggedEvent[] = []
  for (const event of events) {
    const { agent_id, key_id, number } = event
    const { index, fault } = placeEvent(event, tree)
    if (index === undefined) checks.fails('key_event_leaf', { agent_id, key_id, values: { number, fault } })
    else {
      checks.holds('key_event_leaf', { agent_id, key_id, values: { number, index } })
      logged.push({ event, index })
    }
  }
  for (const [agent_id, own] of Map.groupBy(logged, ({ event }) => event.agent_id)) {
    const ordered = own.toSorted((a, b) => a.index - b.index)
    const isCounted = ordered.every(({ event }, at) => event.number === at + 1)
    const isInOrder = ordered.every(({ index }, at) => at === 0 || index > (ordered[at - 1]?.index ?? 0))
    checks.check('key_event_numbers', isCounted && isInOrder, { agent_id, values: { last: ordered.length } })
  }
  return logged
}

function placeEvent({ proof, ...event }: KeyEventProof, tree: VerifiedTree): Placed {
  try {
    return placeLeaf(leafOfShownEvent(event), proof, tree)
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return { fault: 'leaf_field' }
    throw error
  }
}

/** Every key is the one that was registered: its thumbprint is in the leaf of that key event. */
export async function bindKeys(
  keys: readonly CapsuleKey[],
  logged: readonly LoggedEvent[],
  checks: Checks,
): Promise<BoundKey[]> {
  const bound = new Map<string, BoundKey>()
  const byKey = Map.groupBy(logged, ({ event }) => nameOf(event.agent_id, event.key_id))
  for (const key of keys) {
    const { agent_id, key_id, organization_id } = key
    const name = nameOf(agent_id, key_id)
    const events = byKey.get(name) ?? []
    const imported = await importKey(key)
    const isRegistered = events.some(({ event }) => event.kind === 'registered')
    const isSame = events.every(
      ({ event }) =>
        event.organization_id === organization_id &&
        event.use === 'signing' &&
        event.thumbprint === imported?.thumbprint,
    )
    const isBound = imported !== undefined && isRegistered && isSame && !bound.has(name)
    if (checks.check('key_bound', isBound, { agent_id, key_id }) && imported)
      bound.set(name, { key, ...imported, events })
  }
  return [...bound.values()]
}

async function importKey({ public_key }: CapsuleKey) {
  try {
    const publicKey = await importPublicJwk(public_key, { use: 'signing' })
    return { publicKey, thumbprint: await jwkThumbprint(publicKey.jwk) }
  } catch {
    return undefined
  }
}

/** Ids of keys are unique for one agent only. */
function nameOf(agentId: string, keyId: string): string {
  return JSON.stringify([agentId, keyId])
}
