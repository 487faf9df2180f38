import { ExchangeError, type Agent } from '@agent-exchange/sdk'
import type { WaitingWork } from './desk-agent.ts'
import { KEYS_WAIT_MS } from './desk-limits.ts'

/** None without the exchange: the page says already that it is not up to date. */
export async function endingKeysOf(
  agent: Pick<Agent, 'context' | 'identity'>,
): Promise<WaitingWork['endingKeys']> {
  const own = (await agent.context.keys.list()).filter(({ stage }) => stage === 'current')
  try {
    const path = { agent_id: agent.identity.agentId }
    const signal = AbortSignal.timeout(KEYS_WAIT_MS)
    const { keys } = await agent.context.connection.call('getAgentKeys', { path, signal })
    return own.flatMap(({ keyId, role }) => {
      const shown = keys.find(({ key_id }) => key_id === keyId)
      const endsAt = shown?.invalid_from ?? shown?.revoked_at
      return endsAt === undefined ? [] : [{ keyId, role, endsAt }]
    })
  } catch (error) {
    if (error instanceof ExchangeError) return []
    throw error
  }
}
