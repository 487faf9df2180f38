import type { DeploymentProfile, operations, OperationId } from '@agent-exchange/protocol'
import type { Static, TSchema } from 'typebox'
import type { Database, Transaction } from '../db/database.ts'
import type { Context } from './context.ts'
import type { Problem } from './problem.ts'

/** On whose behalf a request speaks: one organization, and one agent where the client belongs to one. */
export interface Caller {
  readonly organizationId: string
  readonly agentId: string | undefined
  readonly clientId: string
}

type Operations = typeof operations

/** Names in braces become members. */
type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathParameters<Rest>
  : object

export type ParamsOf<Id extends OperationId> = PathParameters<Operations[Id]['path']>
export type QueryOf<Id extends OperationId> = Operations[Id] extends { query: infer Schema extends TSchema }
  ? Static<Schema>
  : Record<string, never>
export type BodyOf<Id extends OperationId> = Operations[Id] extends { request: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined
export type AnswerOf<Id extends OperationId> = Static<Operations[Id]['success']['body']>

/** A request that has been authenticated, parsed and checked against its schema. */
export interface Call<Id extends OperationId> {
  readonly caller: Caller
  readonly params: ParamsOf<Id>
  readonly query: QueryOf<Id>
  readonly body: BodyOf<Id>
  /** The body as it was received: it was UTF-8 without byte order mark, so this is what its bytes say and no other's. */
  readonly text: string
  readonly correlationId: string
  /** Empty for reads. */
  readonly idempotencyKey: string
  /** The time of this request; the same wherever it is asked for. */
  readonly now: string
  readonly context: Context
}

/** Reads run without a transaction unless they open one. */
export type Read<Id extends OperationId> = (call: Call<Id>, db: Database) => Promise<AnswerOf<Id>>

/**
 * A mutation in two steps. `authorize` comes before the idempotency record is looked up: who may do this, and is
 * the signature good; it changes nothing, and what it found out goes on to `run`. `run` is inside the one
 * transaction that also records the answer.
 */
export interface Mutation<Id extends OperationId, Found = void> {
  /** Looks at the parsed body before its schema does: for what a schema failure would hide (ID-06). */
  readonly inspect?: (body: unknown, profile: DeploymentProfile) => void | Promise<void>
  readonly authorize: (call: Call<Id>, db: Database) => Found | Promise<Found>
  readonly run: (call: Call<Id>, tx: Transaction, found: Found) => Promise<AnswerOf<Id>>
}

/** One of the calls that a group mutation carries out together. */
export interface AuthorizedCall<Id extends OperationId, Found = void> {
  readonly call: Call<Id>
  readonly found: Found
}

/**
 * A mutation that is asked for so often that its calls share transactions: those that arrive while a commit is under
 * way make up the next one. `runAll` gives an answer or a problem for each, in their order, and writes nothing for
 * those that have a problem: their neighbours are committed.
 */
export interface GroupMutation<Id extends OperationId, Found = void> {
  readonly authorize: (call: Call<Id>, db: Database) => Found | Promise<Found>
  readonly runAll: (
    calls: readonly AuthorizedCall<Id, Found>[],
    tx: Transaction,
  ) => Promise<readonly (AnswerOf<Id> | Problem)[]>
}
