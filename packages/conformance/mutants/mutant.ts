import { OPERATIONS, operationAt, type OperationName } from '../src/service/operations.ts'
import type { ReceiverOptions } from '../src/service/webhook-receiver.ts'
import { parseObject, type Transport, type WireAnswer, type WireRequest } from '../src/wire/wire.ts'

/** One rule, broken between the kit and a service that keeps it. A check of its id must find it. */
export interface Mutant {
  readonly id: string
  /** What the service seems to do. */
  readonly does: string
  /** A new wrapper for each run, because some remember answers. */
  readonly mutate?: Mutation
  readonly alter?: Alteration
  /** Changes what receivers answer, as the service seems to understand it. */
  readonly answer?: NonNullable<ReceiverOptions['answer']>
  /** The check that must find it, if not any of its id. */
  readonly check?: string
}

export type Mutation = () => (send: Transport) => Transport
export type Alteration = () => NonNullable<ReceiverOptions['alter']>

type Body = Readonly<Record<string, unknown>>
type Exchange = { readonly operation: OperationName | undefined; readonly request: WireRequest }

const operationOf = ({ method, url }: WireRequest) => operationAt(method, new URL(url).pathname)
const isSuccess = ({ status }: WireAnswer) => status >= 200 && status < 300

/** Changes answers. */
export const answers =
  (change: (answer: WireAnswer, exchange: Exchange) => WireAnswer): Mutation =>
  () =>
  (send) =>
  async (request) =>
    change(await send(request), { operation: operationOf(request), request })

/** Changes the bodies of successful answers of these operations. */
export const bodies = (
  operations: readonly OperationName[],
  change: (body: Body, request: WireRequest) => unknown,
) =>
  answers((answer, { operation, request }) =>
    operation && operations.includes(operation) && isSuccess(answer)
      ? { ...answer, text: JSON.stringify(change(parseObject(answer.text), request)) }
      : answer,
  )

/** Changes problem documents. */
export const problems = (change: (problem: Body, request: WireRequest) => Body) =>
  answers((answer, { request, operation }) =>
    answer.status >= 400 && operation
      ? { ...answer, text: JSON.stringify(change(parseObject(answer.text), request)) }
      : answer,
  )

/** Answers a refusal with one of these codes by the last success, or by a body of its own. */
export const accepts =
  (operations: readonly OperationName[], codes: readonly string[], body?: Body) =>
  (): ((send: Transport) => Transport) => {
    const last = new Map<OperationName, WireAnswer>()
    return (send) => async (request) => {
      const answer = await send(request)
      const operation = operationOf(request)
      if (!operation || !operations.includes(operation)) return answer
      if (isSuccess(answer)) last.set(operation, answer)
      if (!codes.includes(String(parseObject(answer.text)['code']))) return answer
      const invented = {
        status: OPERATIONS[operation].status,
        headers: JSON_HEADERS,
        text: JSON.stringify(body ?? {}),
        bytes: new Uint8Array(),
      }
      return body ? invented : (last.get(operation) ?? invented)
    }
  }

const JSON_HEADERS = { 'content-type': 'application/json' }

/** Changes requests before the service sees them. */
export const requests =
  (change: (request: WireRequest) => WireRequest): Mutation =>
  () =>
  (send) =>
  (request) =>
    send(change(request))

/** Sends a refused request again in a changed form. */
export const retries =
  (isRefused: (answer: WireAnswer) => boolean, change: (request: WireRequest) => WireRequest) =>
  (): ((send: Transport) => Transport) =>
  (send) =>
  async (request) => {
    const answer = await send(request)
    return isRefused(answer) ? send(change(request)) : answer
  }

export const hasCode =
  (...codes: readonly string[]) =>
  ({ text }: WireAnswer) =>
    codes.includes(String(parseObject(text)['code']))
