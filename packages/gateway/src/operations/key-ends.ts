import { dateOfInstant } from '@agent-exchange/protocol'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { Logger } from 'pino'
import type { HostedAgent, HostedAgents } from '../agents/hosted-agent.ts'

const CHECK_SECONDS = 60
/** An agent's keys are asked for once in this time. */
const ASK_MS = 3_600_000

/** The end of the key of one use that nothing replaces yet. */
export interface KeyEnd {
  readonly agentId: string
  readonly use: string
  readonly keyId: string
  readonly endsAt: string
}

export interface KeyEnds {
  list(): readonly KeyEnd[]
  readonly task: PeriodicTask
}

/** Asks the exchange when the registered keys of this gateway's agents end. The leader asks, once an hour. */
export function watchKeyEnds(agents: HostedAgents & { isLeading(): boolean }, log: Logger): KeyEnds {
  const known = new Map<string, readonly KeyEnd[]>()
  const askedAt = new Map<string, number>()
  return {
    list: () => [...known.values()].flat(),
    task: {
      name: 'ends of keys',
      everySeconds: CHECK_SECONDS,
      atStart: true,
      async run(signal) {
        if (!agents.isLeading()) {
          known.clear()
          askedAt.clear()
          return
        }
        for (const hosted of agents.list()) {
          const { agentId } = hosted
          if (signal.aborted) return
          if (performance.now() - (askedAt.get(agentId) ?? -ASK_MS) < ASK_MS) continue
          try {
            known.set(agentId, await keyEndsOf(hosted, signal))
            askedAt.set(agentId, performance.now())
          } catch {
            log.warn({ agent: agentId }, 'the exchange did not say when the keys of the agent end')
          }
        }
      },
    },
  }
}

async function keyEndsOf({ agentId, agent }: HostedAgent, signal: AbortSignal): Promise<KeyEnd[]> {
  const { keys } = await agent.context.connection.call('getAgent', { path: { agent_id: agentId }, signal })
  return lastEnds(keys).map((end) => ({ agentId, ...end }))
}

interface RegisteredKey {
  readonly key_id: string
  readonly use: string
  readonly status: string
  readonly valid_until?: string
}

/** By use: the key that ends last. A use with a key that never ends has none. */
export function lastEnds(keys: readonly RegisteredKey[]): Omit<KeyEnd, 'agentId'>[] {
  const active = Map.groupBy(
    keys.filter(({ status }) => status === 'active'),
    ({ use }) => use,
  )
  return [...active].flatMap(([use, sameUse]) => {
    if (sameUse.some(({ valid_until }) => valid_until === undefined)) return []
    const [last] = sameUse.toSorted((left, right) => timeOf(right) - timeOf(left))
    const endsAt = dateOfInstant(last?.valid_until ?? '')?.toISOString()
    return last && endsAt !== undefined ? [{ use, keyId: last.key_id, endsAt }] : []
  })
}

function timeOf({ valid_until: end = '' }: RegisteredKey): number {
  return dateOfInstant(end)?.getTime() ?? 0
}
