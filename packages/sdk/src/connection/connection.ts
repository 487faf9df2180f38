import type { operations, OperationId } from '@agent-exchange/protocol'
import type { Named } from '@agent-exchange/protocol'

type TypeOf<S> = S extends Named<infer T> ? T : never

/** Request body of an operation; `undefined` if it has none. */
export type BodyOf<Id extends OperationId> = (typeof operations)[Id] extends { readonly request: infer R }
  ? TypeOf<R>
  : undefined

/** Response body of an operation that succeeds. */
export type AnswerOf<Id extends OperationId> = TypeOf<(typeof operations)[Id]['success']['body']>

export interface CallOptions<Id extends OperationId = OperationId> {
  /** Path parameters by name. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: BodyOf<Id>
  /** The serialized body, if the exact bytes matter (a stored retry). */
  readonly bodyText?: string
  /** One for each intent, the same for its retries. Defaults to a new one. */
  readonly idempotencyKey?: string
  readonly correlationId?: string
  readonly signal?: AbortSignal
}

/**
 * The connection to the exchange: tokens, headers, safe retries and problems. The rest of the SDK knows operations
 * only. Every response that is no success is thrown as an {@link ExchangeError}.
 */
export interface Connection {
  readonly baseUrl: string
  call<Id extends OperationId>(operation: Id, options?: CallOptions<Id>): Promise<AnswerOf<Id>>
  /** Downloads the exact bytes of sealed content from an address of the exchange, up to a limit. */
  download(
    url: string,
    options: { readonly maximumBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array>
  /** A valid access token, to try the API by hand. */
  token(): Promise<string>
}
