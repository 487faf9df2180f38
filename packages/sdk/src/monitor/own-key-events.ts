import { importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import { isEarlier, type LoggedKeyEvent } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { useOf } from '../keys/key-rules.ts'
import type { OwnKey } from '../keys/key-store.ts'
import type { MonitorFinding } from './label-scan.ts'

/** Numbers of missing key events that are named. */
const NAMED_GAPS = 5

/** What is wrong with the key events and the directory that the exchange shows for this agent. */
export async function keyFindings(
  context: AgentContext,
  events: readonly LoggedKeyEvent[],
  acknowledged: readonly number[],
): Promise<MonitorFinding[]> {
  const own = await ownKeys(context)
  return [
    ...gapsOf(context, events),
    ...(await keysOfOthers(context, events, own)),
    ...eventsOfOthers(context, events, own).filter(({ number }) => !acknowledged.includes(number)),
  ]
}

/** By thumbprint. */
type OwnKeys = ReadonlyMap<string, OwnKey>

async function ownKeys({ keys }: AgentContext): Promise<OwnKeys> {
  const all = await keys.list()
  return new Map(
    await Promise.all(all.map(async (key) => [await jwkThumbprint(key.publicJwk), key] as const)),
  )
}

/** Events of own keys that this agent did not cause: another name or use, a second registration, a revocation. */
function eventsOfOthers(
  { identity: { agentId } }: AgentContext,
  events: readonly LoggedKeyEvent[],
  own: OwnKeys,
): (MonitorFinding & { readonly number: number })[] {
  const replaced = new Set([...own.values()].map(({ replaces }) => replaces))
  const seen = new Set<string>()
  return events.flatMap((event) => {
    const { number, kind, key_id: keyId, thumbprint, invalid_from: invalidFrom } = event
    const key = own.get(thumbprint)
    if (!key) return []
    const name = `${kind} ${keyId} ${invalidFrom ?? ''}`
    const isRepeated = seen.has(name)
    seen.add(name)
    if (!isRepeated && isOurs(event, key, replaced)) return []
    const from = invalidFrom === undefined ? '' : `, not valid from ${invalidFrom} on`
    return {
      number,
      kind: 'foreign_key_event' as const,
      sentence: `The exchange shows key event ${number} of ${agentId} (${keyId} ${kind}${from}), and this agent did not cause it.`,
    }
  })
}

function isOurs(
  { kind, key_id: keyId, use, invalid_from: invalidFrom }: LoggedKeyEvent,
  key: OwnKey,
  replaced: ReadonlySet<string | undefined>,
): boolean {
  if (keyId !== key.keyId || use !== useOf(key.role)) return false
  if (kind === 'registered') return true
  if (kind === 'retiring') return replaced.has(keyId)
  const isSame = (noted: string) =>
    isEarlier(noted, invalidFrom) === false && isEarlier(invalidFrom, noted) === false
  return kind === 'revoked' && (key.revocations ?? []).some(isSame)
}

/** Key events count from 1 without gaps, so that a verifier rejects a key whose predecessors are not shown. */
function gapsOf(
  { identity: { agentId } }: AgentContext,
  events: readonly LoggedKeyEvent[],
): MonitorFinding[] {
  const times = new Map<number, number>()
  for (const { number } of events) times.set(number, (times.get(number) ?? 0) + 1)
  const missing = events.map((_, index) => index + 1).filter((number) => !times.has(number))
  const twice = [...times].filter(([, count]) => count > 1)
  return [
    ...missing
      .slice(0, NAMED_GAPS)
      .map(
        (number) => `The exchange shows ${events.length} key events of ${agentId}, without number ${number}.`,
      ),
    ...twice.map(([number]) => `The exchange shows key event ${number} of ${agentId} more than once.`),
  ].map((sentence) => ({ kind: 'key_gap', sentence }))
}

/** Keys that the log or the directory names for this agent, and that its key store never made. */
async function keysOfOthers(
  { connection, identity }: AgentContext,
  events: readonly LoggedKeyEvent[],
  own: OwnKeys,
): Promise<MonitorFinding[]> {
  const unknown = new Map<string, string>()
  for (const { thumbprint, key_id: keyId, number } of events)
    if (!own.has(thumbprint)) unknown.set(thumbprint, `key ${keyId} (key event ${number})`)
  const directory = await connection.call('getAgentKeys', { path: { agent_id: identity.agentId } })
  for (const { public_key: publicKey, key_id: keyId } of directory.keys) {
    const thumbprint = await jwkThumbprint((await importPublicJwk(publicKey)).jwk)
    if (!own.has(thumbprint) && !unknown.has(thumbprint))
      unknown.set(thumbprint, `key ${keyId} (in the directory)`)
  }
  return [...unknown.values()].map((which) => ({
    kind: 'unknown_key',
    sentence: `The exchange shows ${which} as one of ${identity.agentId}, and the key store of this agent never made it.`,
  }))
}
