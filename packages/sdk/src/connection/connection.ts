import type { operations, OperationId } from '@agent-exchange/protocol'
import type { Named } from '@agent-exchange/protocol'

type TypeOf<S> = S extends Named<infer T> ? T : never

/** What an operation takes as its body; `undefined` for those without one. */
export type BodyOf<Id extends OperationId> = (typeof operations)[Id] extends { readonly request: infer R }
  ? TypeOf<R>
  : undefined

/** What an operation answers when it succeeds. */
export type AnswerOf<Id extends OperationId> = TypeOf<(typeof operations)[Id]['success']['body']>

export interface CallOptions<Id extends OperationId = OperationId> {
  /** Path parameters by name. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: BodyOf<Id>
  /** The text of the body as it goes over the wire, where the exact bytes matter (a stored retry). */
  readonly bodyText?: string
  /** One for every intent, kept over its retries; a fresh one unless told. */
  readonly idempotencyKey?: string
  readonly correlationId?: string
  readonly signal?: AbortSignal
}

/**
 * The way to the exchange: tokens, headers, safe retries and problems, so that the rest of the SDK only
 * knows operations. An answer that is not a success is thrown as an {@link ExchangeError}.
 */
export interface Connection {
  readonly baseUrl: string
  call<Id extends OperationId>(operation: Id, options?: CallOptions<Id>): Promise<AnswerOf<Id>>
  /** Sealed content from an address that the exchange named, byte for byte, up to a limit. */
  download(
    url: string,
    options: { readonly maximumBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array>
  /** A valid access token, to try the API by hand. */
  token(): Promise<string>
}
