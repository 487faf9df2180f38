import type { LogPolicy } from '@agent-exchange/log'
import type { DraftAuthor } from '../approvals/draft-authors.ts'
import type { Agent, Drafts, Outbox } from '@agent-exchange/sdk'

/** An agent of the company that this gateway runs, with its stores in PostgreSQL. */
export interface HostedAgent {
  readonly agentId: string
  readonly organizationId: string
  readonly agent: Agent
  /** What they create has no author, so that nobody approves it alone. */
  readonly drafts: Drafts
  /** The same drafts; whoever creates one is recorded with it. */
  draftsBy(author: DraftAuthor): Drafts
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
