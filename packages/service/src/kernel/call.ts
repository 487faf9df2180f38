import type { JsonValue } from '@agent-exchange/crypto'
import type { DeploymentProfile, Named, operations, OperationId } from '@agent-exchange/protocol'
import type { Static, TSchema } from 'typebox'
import type { Database, Queries, Transaction } from '@agent-exchange/database'
import type { Context } from './context.ts'
import type { Problem } from './problem.ts'
import type { QueueName } from './queue-name.ts'
import type { RequestSpan } from './tracing.ts'
import type { WalPosition } from './wal-position.ts'

/** Who a request acts for: one organization, and one agent where the client belongs to one. */
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
  /** The body as received. It was UTF-8 without a byte order mark, so encoding the text gives back the same bytes. */
  readonly text: string
  readonly correlationId: string
  /** Empty for reads. */
  readonly idempotencyKey: string
  /** The time of the request: one value for everything that the request does. */
  readonly now: string
  /** A replica may serve the call once it has replayed the log of the primary up to here. Undefined: no replica. */
  readonly position?: WalPosition | undefined
  readonly context: Context
  /** Undefined if tracing is off. */
  readonly span?: RequestSpan | undefined
  /** Lets other organizations have their turn of the event loop during long work. */
  readonly pause?: (() => Promise<void>) | undefined
}

/** A read has no transaction unless it opens one. */
export type Read<Id extends OperationId> = (call: Call<Id>, db: Database) => Promise<AnswerOf<Id>>

/** A read that a replica may serve: it sends single statements and takes no lock. */
export type ReplicaRead<Id extends OperationId> = (call: Call<Id>, queries: Queries) => Promise<AnswerOf<Id>>

interface AuthorizedMutation<Id extends OperationId, Found> {
  /** Reads the parsed body before its schema is checked, for what a schema failure would hide (ID-06). */
  readonly inspect?: (body: unknown, profile: DeploymentProfile) => void | Promise<void>
  /** The schema of a body, if it is not that of the operation. Undefined: `authorize` checks the body. */
  readonly schemaOf?: (body: JsonValue) => Named<unknown> | undefined
  /** Checks permission and signature before the key is claimed. It writes nothing. */
  readonly authorize: (call: Call<Id>, db: Database) => Found | Promise<Found>
  /** API-05: identifies the content that a retry must repeat. Defaults to a hash of path parameters and body. */
  readonly contentHash?: (call: Call<Id>, found: Found) => Uint8Array
}

/** A mutation that runs in a transaction of its own, which also records the answer. */
export interface Mutation<Id extends OperationId, Found = void> extends AuthorizedMutation<Id, Found> {
  readonly run: (call: Call<Id>, tx: Transaction, found: Found) => Promise<AnswerOf<Id>>
}

export interface AuthorizedCall<Id extends OperationId, Found = void> {
  readonly call: Call<Id>
  readonly found: Found
}

/** A frequent mutation: calls that arrive together share a transaction. */
export interface BatchMutation<Id extends OperationId, Found = void, State = void> extends AuthorizedMutation<
  Id,
  Found
> {
  /** Names its queue in metrics. Mutations with the same `runBatch` have the same name. */
  readonly queue: QueueName
  /** Minimum size of a batch that starts while another one runs. Defaults to a full batch. */
  readonly minConcurrentBatch?: number
  /** Reads what `runBatch` needs, in the same round trip as the idempotency records; some of the calls may be retries. */
  readonly readBatch?: (calls: readonly AuthorizedCall<Id, Found>[], tx: Transaction) => Promise<State>
  /**
   * One answer or problem for each call, in order. It writes nothing for a call that has a problem. Mutations with the
   * same `runBatch` share batches.
   */
  readonly runBatch: (
    calls: readonly AuthorizedCall<Id, Found>[],
    tx: Transaction,
    state: State,
  ) => Promise<readonly (AnswerOf<Id> | Problem)[]>
}
