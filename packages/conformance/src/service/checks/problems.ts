import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { describe, holds, refused, same } from '../../run/expect.ts'
import { type Answer, isObject } from '../../wire/wire.ts'
import { PLAINTEXT_MARK, draftPackage, revocationStatement, send, sendPackage } from '../draft.ts'
import { operationAt, pathOf } from '../operations.ts'
import { PROBLEM } from '../resources.ts'
import { registerIfAccepted } from '../agent.ts'
import { sent } from '../scene.ts'
import { requireShape } from '../shape.ts'

/** One failure of each category that can be caused without loading the service. */
async function failures(context: Context): Promise<Readonly<Record<string, Answer>>> {
  const { sender, recipient, outsider } = context
  const old = await registerIfAccepted(recipient.organization, context.newId, {
    protocol_versions: ['svc/0.9'],
  })
  const stranger = { ...recipient, agentId: context.newId('agent') }
  const revoked = await sent(context)
  const path = pathOf('revokePackage', { package_id: revoked.packageId })
  const revoke = async () =>
    sender.organization.call('POST', path, await revocationStatement(context, sender, revoked.packageId))
  await revoke()
  const idempotencyKey = context.newId('idem')
  const key = { idempotencyKey }
  const [one, two] = [
    await draftPackage(context, sender, recipient),
    await draftPackage(context, sender, recipient),
  ]
  await sender.organization.call('POST', '/v1/policy-receipts', one.receipt, key)
  const expired = {
    created_at: new Date(Date.parse(context.now()) - 7_200_000).toISOString(),
    expires_at: new Date(Date.parse(context.now()) - 3_600_000).toISOString(),
  }
  const unauthenticated = { headers: { authorization: 'Bearer none' } }
  return {
    authentication: await sender.organization.call('GET', '/v1/notifications', undefined, unauthenticated),
    authorization: await outsider.organization.call('POST', '/v1/policy-receipts', two.receipt),
    'recipient capability': await send(sender, await draftPackage(context, sender, stranger)),
    ...(old && { 'version compatibility': await send(sender, await draftPackage(context, sender, old)) }),
    'duplicate idempotency': await sender.organization.call('POST', '/v1/policy-receipts', two.receipt, key),
    'invalid state transition': await revoke(),
    'expired package': await send(
      sender,
      await draftPackage(context, sender, recipient, { metadata: expired }),
    ),
  }
}

const categories: Check = {
  name: 'problems/categories',
  ids: ['ERR-03', 'ERR-01'],
  title: 'failures of different categories are problem documents with different codes',
  async run(context) {
    const answers = Object.entries(await failures(context))
    for (const [category, answer] of answers) {
      refused(answer, `a failure of ${category}`)
      requireProblem(answer)
      context.note('O-11', `${category}: ${answer.status} ${String(answer.body['code'])}`)
    }
    const codes = answers.map(([, { body }]) => String(body['code']))
    same(new Set(codes).size, codes.length, `distinct codes among ${codes.join(', ')}`)
  },
}

function requireProblem(answer: Answer): void {
  const type = answer.headers['content-type'] ?? ''
  holds(/^application\/problem\+json\b/u.test(type), `${describe(answer)} with content type ${type}`)
  requireShape(answer.body, PROBLEM, describe(answer))
  same(answer.body['status'], answer.status, `status in the problem of ${describe(answer)}`)
}

const everyFailure: Check = {
  name: 'problems/every-failure',
  ids: ['ERR-01', 'API-07'],
  title: 'every failure of an operation in this run was a complete problem document',
  last: true,
  examine(answer) {
    const { status, request } = answer
    // What is no operation may be answered by a proxy or a router in front of the service.
    if (status < 400 || operationAt(request.method, new URL(request.url).pathname) === undefined) return false
    requireProblem(answer)
    return true
  },
  run: ({ examined }) => Promise.resolve(examined('problems/every-failure')),
}

const correlation: Check = {
  name: 'problems/correlation-id',
  ids: ['ERR-01'],
  title: 'a problem carries the correlation id of its request',
  async run(context) {
    const correlationId = context.newId('corr')
    const path = pathOf('getPackage', { package_id: context.newId('pkg') })
    const answer = await context.sender.organization.call('GET', path, undefined, { correlationId })
    requireProblem(refused(answer, 'an unknown package'))
    same(answer.body['correlation_id'], correlationId, 'correlation_id of a problem')
  },
}

const MINIMUM_ECHO = 40

const echo: Check = {
  name: 'problems/no-echo',
  ids: ['ERR-02'],
  title: 'a refused package is not repeated in its problem, and neither is the token',
  async run(context) {
    const { sender, recipient } = context
    const draft = await draftPackage(context, sender, recipient)
    const answers = [
      await sendPackage(sender, draft),
      await sender.organization.call('POST', '/v1/packages', { ...draft.body, note: PLAINTEXT_MARK }),
      await sender.organization.call('POST', '/v1/packages', JSON.stringify(draft.body).slice(0, -10)),
    ]
    const token = await sender.organization.token()
    const secrets = [token, String(draft.body['payload']).slice(100, 100 + MINIMUM_ECHO), PLAINTEXT_MARK]
    for (const answer of answers) {
      refused(answer, 'a package that is not valid')
      holds(
        !secrets.some((secret) => answer.text.includes(secret)),
        `${describe(answer)} and repeated what was sent`,
      )
    }
  },
}

const secrecy: Check = {
  name: 'problems/secrecy',
  ids: ['PKG-14', 'AUTH-04', 'ERR-02'],
  title: 'no answer of this run contained plaintext, a private key or the token of its request',
  last: true,
  examine(answer) {
    const token = answer.request.headers['authorization']?.replace(/^\w+ /u, '') ?? ''
    holds(!answer.text.includes(PLAINTEXT_MARK), `${describe(answer)} and contained plaintext`, ['PKG-14'])
    const hasPrivateKey = /"kty"[^{}]*"d"\s*:/u.test(answer.text)
    holds(!hasPrivateKey, `${describe(answer)} and contained a private key`, ['PKG-14', 'AUTH-04'])
    const isRepeated = token.length > MINIMUM_ECHO && answer.text.includes(token)
    holds(!isRepeated, `${describe(answer)} and repeated its access token`, ['ERR-02'])
    return true
  },
  run: ({ examined }) => Promise.resolve(examined('problems/secrecy')),
}

const times: Check = {
  name: 'problems/times',
  ids: ['OBJ-19', 'API-07'],
  title: 'every time in the answers of this run was RFC 3339 in UTC',
  last: true,
  examine(answer) {
    if (answer.status >= 300) return false
    for (const value of timesIn(answer.body))
      holds(UTC_TIME.test(value), `${describe(answer)} with the time ${value}`)
    return true
  },
  async run({ sender, examined }) {
    await sender.organization.call('GET', pathOf('getAgent', { agent_id: sender.agentId }))
    examined('problems/times')
  },
}

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)$/u
const TIME_MEMBER = /^(?:\w+_at|valid_from|invalid_from|valid_until)$/u

/** Members of the type timestamp. occurred_at of an audit event is a date-time with any offset (OBJ-19). */
function timesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(timesIn)
  if (!isObject(value)) return []
  const isEvent = value['object_type'] === 'audit_event'
  return Object.entries(value).flatMap(([name, inner]) => {
    if (typeof inner !== 'string') return timesIn(inner)
    return TIME_MEMBER.test(name) && !(isEvent && name === 'occurred_at') ? [inner] : []
  })
}

export const PROBLEM_CHECKS: readonly Check[] = [categories, correlation, echo, everyFailure, secrecy, times]
