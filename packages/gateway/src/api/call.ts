import type { Database } from '@agent-exchange/database'
import type { Static } from 'typebox'
import type { HostedAgent, HostedAgents } from '../agents/hosted-agent.ts'
import type { ContentStore, Reader } from '../content/content-store.ts'
import type { LeaseWaiters } from '../inbox/lease-waiters.ts'
import { GatewayProblem } from '../problems.ts'
import type { SecretWrap } from '../push/push-endpoints.ts'
import { ALL_AGENTS, mayActFor, type Caller } from '../systems/verbs.ts'
import type { GatewayOperation, GatewayOperationId, gatewayOperations } from './operations.ts'

/** What the handlers work with. */
export interface ApiParts {
  readonly db: Database
  readonly agents: HostedAgents
  readonly contents: ContentStore
  readonly leases: LeaseWaiters
  /** Encrypts what systems write about items. */
  readonly box: SecretWrap
  readonly now: () => Date
  readonly log: { error(fields: object, message: string): void }
}

type Row<Id extends GatewayOperationId> = (typeof gatewayOperations)[Id]
type BodyOf<O> = O extends {
  readonly request: infer Request extends NonNullable<GatewayOperation['request']>
}
  ? Static<Request>
  : undefined
type QueryOf<O> = O extends { readonly query: infer Query extends NonNullable<GatewayOperation['query']> }
  ? Static<Query>
  : Readonly<Record<string, unknown>>

export interface Call<Id extends GatewayOperationId> {
  readonly parts: ApiParts
  readonly caller: Caller
  readonly path: Readonly<Record<string, string>>
  readonly query: QueryOf<Row<Id>>
  readonly body: BodyOf<Row<Id>>
  /** Aborted if the caller goes away. */
  readonly signal: AbortSignal
}

export interface Answer {
  /** Undefined: that of the operation's success. */
  readonly status?: 202
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

export type Handler<Id extends GatewayOperationId> = (call: Call<Id>) => Promise<Answer>

/** The agent of the path. One that the caller may not act for and an unknown one answer alike. */
export function agentOf({
  parts,
  caller,
  path,
}: Pick<Call<GatewayOperationId>, 'parts' | 'caller' | 'path'>): HostedAgent {
  const agentId = path['agent_id'] ?? ''
  const found = mayActFor(caller, agentId) ? parts.agents.find(agentId) : undefined
  if (!found) throw new GatewayProblem('resource_not_found')
  return found
}

/** Agents whose inbox the caller may use. */
export function agentIdsOf({ parts, caller }: Pick<Call<GatewayOperationId>, 'parts' | 'caller'>): string[] {
  const hosted = parts.agents.list().map(({ agentId }) => agentId)
  return caller.agents.includes(ALL_AGENTS) ? hosted : hosted.filter((agentId) => mayActFor(caller, agentId))
}

export const readerOf = ({ id, kind }: Caller, purpose: string): Reader => ({ kind, id, purpose })
