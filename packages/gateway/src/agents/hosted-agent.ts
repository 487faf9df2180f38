import type { LogPolicy } from '@agent-exchange/log'
import type { Agent, Drafts, Outbox } from '@agent-exchange/sdk'

/** An agent of the company that this gateway runs, with its stores in PostgreSQL. */
export interface HostedAgent {
  readonly agentId: string
  readonly organizationId: string
  readonly agent: Agent
  readonly drafts: Drafts
  readonly outbox: Outbox
  /** Keys of logs and witnesses that its administrator trusts. */
  readonly logPolicy?: LogPolicy
}

export interface HostedAgents {
  list(): readonly HostedAgent[]
  find(agentId: string): HostedAgent | undefined
}

/** The skill of agents that were registered without one. */
const DEFAULT_SKILL = { id: 'skill_alignment', version: '1.0.0' }

/** The skill that drafts of the agent are written with. */
export const skillOf = ({ agent }: HostedAgent) => agent.defaults.skill ?? DEFAULT_SKILL
