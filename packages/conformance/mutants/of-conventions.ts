import { randomUUID } from 'node:crypto'
import { MUTATIONS } from '../src/service/operations.ts'
import { parseObject, type WireRequest } from '../src/wire/wire.ts'
import {
  accepts,
  answers,
  bodies,
  hasCode,
  type Mutant,
  type Mutation,
  problems,
  requests,
  retries,
} from './mutant.ts'

const withHeader = (request: WireRequest, name: string, value: string): WireRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
})
const isTokenRequest = ({ url }: WireRequest) => new URL(url).pathname.endsWith('/token')

export const CONVENTION_MUTANTS: readonly Mutant[] = [
  {
    id: 'OBJ-01',
    does: 'shows agent ids without their prefix',
    mutate: bodies(['getAgent', 'registerAgent'], (body) => ({
      ...body,
      agent_id: String(body['agent_id']).replace('agent_', ''),
    })),
  },
  {
    id: 'OBJ-01',
    does: 'accepts agent ids of any form',
    mutate: accepts(['registerAgent'], ['validation_failed']),
  },
  {
    id: 'OBJ-19',
    does: 'writes times with another offset',
    mutate: answers((answer, { operation }) =>
      operation === 'getAgent'
        ? { ...answer, text: answer.text.replaceAll(/(:\d\d(?:\.\d+)?)Z"/gu, '$1+02:00"') }
        : answer,
    ),
  },
  {
    id: 'API-01',
    does: 'answers 200 where 202 is due',
    mutate: answers((answer) => (answer.status === 202 ? { ...answer, status: 200 } : answer)),
  },
  {
    id: 'API-01',
    does: 'lacks a member of a thread',
    mutate: bodies(['getThread'], (body) => ({ ...body, participants: undefined })),
  },
  {
    id: 'API-01',
    does: 'has a further operation that deletes agents',
    mutate: answers((answer, { request }) =>
      request.method === 'DELETE' ? { ...answer, status: 204, text: '' } : answer,
    ),
  },
  {
    id: 'API-02',
    does: 'describes an operation under another name',
    mutate: answers((answer, { request }) =>
      request.url.endsWith('/openapi.json')
        ? { ...answer, text: answer.text.replace('"getThread"', '"readThread"') }
        : answer,
    ),
  },
  {
    id: 'API-03',
    does: 'invents a missing correlation id',
    mutate: requests((request) =>
      request.headers['x-correlation-id'] === undefined
        ? withHeader(request, 'x-correlation-id', randomUUID())
        : request,
    ),
  },
  {
    id: 'API-03',
    does: 'invents a missing idempotency key',
    mutate: requests((request) =>
      request.method === 'POST' && request.headers['idempotency-key'] === undefined
        ? withHeader(request, 'idempotency-key', randomUUID())
        : request,
    ),
  },
  {
    id: 'API-04',
    does: 'ignores the idempotency key',
    mutate: requests((request) =>
      request.method === 'POST' && request.headers['idempotency-key'] !== undefined
        ? withHeader(request, 'idempotency-key', randomUUID())
        : request,
    ),
  },
  {
    id: 'API-05',
    does: 'answers a used key with the first answer, whatever the content',
    mutate: accepts(MUTATIONS, ['idempotency_key_reuse']),
  },
  {
    id: 'API-05',
    does: 'calls a used key a bad request',
    mutate: answers((answer) =>
      hasCode('idempotency_key_reuse')(answer) ? { ...answer, status: 400 } : answer,
    ),
  },
  {
    id: 'API-06',
    does: 'starts over at a cursor that it does not know',
    mutate: retries(hasCode('cursor_invalid', 'validation_failed'), (request) => ({
      ...request,
      url: request.url.split('?', 1)[0] ?? '',
    })),
  },
  {
    id: 'API-07',
    does: 'answers as text',
    mutate: answers((answer) =>
      answer.status < 300
        ? { ...answer, headers: { ...answer.headers, 'content-type': 'text/plain' } }
        : answer,
    ),
  },
  { id: 'API-08', does: 'lets calls without a token pass as the last caller', mutate: anyToken() },
  { id: 'AUTH-01', does: 'does not verify tokens', mutate: anyToken() },
  {
    id: 'AUTH-01',
    does: 'issues tokens for a month',
    mutate: answers((answer, { request }) =>
      isTokenRequest(request)
        ? { ...answer, text: answer.text.replace(/"expires_in":\s*\d+/u, '"expires_in":2592000') }
        : answer,
    ),
  },
  {
    id: 'AUTH-02',
    does: 'issues tokens without looking at the assertion',
    mutate: () => (send) => {
      let last: Awaited<ReturnType<typeof send>> | undefined
      return async (request) => {
        const answer = await send(request)
        if (!isTokenRequest(request)) return answer
        if (answer.status === 200) last = answer
        return last ?? answer
      }
    },
  },
  {
    id: 'AUTH-03',
    does: 'lets an organization act for others',
    mutate: accepts(MUTATIONS, ['not_permitted', 'resource_not_found']),
  },
  {
    id: 'AUTH-04',
    does: 'returns a private key with a registered one',
    mutate: bodies(['registerAgentKey'], (body) => ({
      ...body,
      public_key: { ...(body['public_key'] as object), d: 'c2VjcmV0' },
    })),
  },
  {
    id: 'ERR-01',
    does: 'leaves a member out of its problems',
    mutate: problems((problem) => ({ ...problem, retryable: undefined })),
  },
  {
    id: 'ERR-01',
    does: 'sends problems as plain JSON',
    mutate: answers((answer) =>
      answer.status >= 400
        ? { ...answer, headers: { ...answer.headers, 'content-type': 'application/json' } }
        : answer,
    ),
  },
  {
    id: 'ERR-01',
    does: 'invents the correlation id of its problems',
    mutate: problems((problem) => ({ ...problem, correlation_id: 'corr_another' })),
  },
  {
    id: 'ERR-02',
    does: 'repeats the request in its problems',
    mutate: problems((problem, { body = '' }) => ({ ...problem, details: { received: body } })),
  },
  {
    id: 'ERR-02',
    does: 'repeats the token in its problems',
    mutate: problems((problem, { headers }) => ({
      ...problem,
      details: { token: headers['authorization'] },
    })),
  },
  {
    id: 'ERR-03',
    does: 'has one code for all failures',
    mutate: problems((problem) => ({ ...problem, code: 'failed' })),
  },
  {
    id: 'PKG-14',
    does: 'shows plaintext',
    mutate: bodies(['registerAgentKey'], (body) => ({ ...body, note: 'conformance plaintext 7f3a' })),
  },
]

/** Repeats a call that was refused for its token with the last token that worked. */
function anyToken(): Mutation {
  return () => (send) => {
    let last = ''
    return async (request) => {
      const answer = await send(request)
      const isOperation = new URL(request.url).pathname.startsWith('/v1/')
      if (!isOperation) return answer
      if (answer.status < 300) last = request.headers['authorization'] ?? last
      return answer.status === 401 && parseObject(answer.text)['code'] !== undefined && last !== ''
        ? send(withHeader(request, 'authorization', last))
        : answer
    }
  }
}
