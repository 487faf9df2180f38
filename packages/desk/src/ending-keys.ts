import { dateOfInstant } from '@agent-exchange/protocol'
import { ExchangeError, type Agent } from '@agent-exchange/sdk'
import type { WaitingWork } from './desk-agent.ts'
import { KEY_ENDS_MS, KEYS_WAIT_MS } from './desk-limits.ts'

/** None without the exchange: the page says already that it is not up to date. */
export async function endingKeysOf(
  agent: Pick<Agent, 'context' | 'identity'>,
  now: Date,
): Promise<WaitingWork['endingKeys']> {
  const own = (await agent.context.keys.list()).filter(({ stage }) => stage === 'current')
  try {
    const path = { agent_id: agent.identity.agentId }
    const signal = AbortSignal.timeout(KEYS_WAIT_MS)
    const { keys } = await agent.context.connection.call('getAgentKeys', { path, signal })
    return own.flatMap(({ keyId, role }) => {
      const endsAt = endOf(keys.find(({ key_id }) => key_id === keyId) ?? {}, now)
      return endsAt === undefined ? [] : [{ keyId, role, endsAt }]
    })
  } catch (error) {
    if (error instanceof ExchangeError) return []
    throw error
  }
}

interface KeyTimes {
  readonly invalid_from?: string
  readonly revoked_at?: string
  readonly valid_until?: string
}

/** A revoked key has ended, and one that expires soon needs a successor. */
export function endOf({ invalid_from, revoked_at, valid_until }: KeyTimes, now: Date): string | undefined {
  const revoked = invalid_from ?? revoked_at
  if (revoked !== undefined) return revoked
  const end = valid_until === undefined ? undefined : dateOfInstant(valid_until)
  return end && end.getTime() - now.getTime() < KEY_ENDS_MS ? valid_until : undefined
}
