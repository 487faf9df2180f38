import { CryptoError, importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import { leafOfShownEvent, LogError } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import type { LoggedKeyEvent } from './log-answers.ts'
import type { MonitorFinding } from './label-scan.ts'

/** Numbers of missing key events that are named. */
const NAMED_GAPS = 5

/** What is wrong with the key events and the directory that the exchange shows for this agent. */
export async function keyFindings(
  context: AgentContext,
  events: readonly LoggedKeyEvent[],
): Promise<MonitorFinding[]> {
  return [...gapsOf(context, events), ...(await keysOfOthers(context, events))]
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
  { connection, identity, keys }: AgentContext,
  events: readonly LoggedKeyEvent[],
): Promise<MonitorFinding[]> {
  const own = new Set(await Promise.all((await keys.list()).map(({ publicJwk }) => jwkThumbprint(publicJwk))))
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

/** The leaf of an event as the exchange shows it; empty where what it shows can be no leaf. */
export function shownKeyLeaf(agentId: string, event: LoggedKeyEvent): Uint8Array | undefined {
  if (event.salt === undefined) return undefined
  try {
    return leafOfShownEvent({ ...event, agent_id: agentId, salt: event.salt })
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return new Uint8Array()
    throw error
  }
}
