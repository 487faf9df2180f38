import type { Agent, Drafts, Outbox } from '@agent-exchange/sdk'

/** An agent of the company that this gateway runs, with its stores in PostgreSQL. */
export interface HostedAgent {
  readonly agentId: string
  readonly organizationId: string
  readonly agent: Agent
  readonly drafts: Drafts
  readonly outbox: Outbox
}

export interface HostedAgents {
  list(): readonly HostedAgent[]
  find(agentId: string): HostedAgent | undefined
}
