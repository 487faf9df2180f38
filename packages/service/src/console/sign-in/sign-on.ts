import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { secondsAfter } from '@agent-exchange/server/clock'
import { SignOnFailure, type SignOnChecks, type SingleSignOn } from '@agent-exchange/server/sign-on'
import { localPath, openCookie, requestOrigin, sealCookie } from '@agent-exchange/web'
import type { Operator, OperatorRole } from '../../kernel/operator-roles.ts'
import { Problem } from '../../kernel/problem.ts'
import { SESSION_LIMITS } from '../../operator/session-limits.ts'
import { operatorOf } from '../../operator/signed-on-operator.ts'
import { fieldsOf } from '../fields.ts'
import { consolePage } from '../layout.ts'
import type { PageServerParts } from '../page-server.ts'
import { signOnFaultContent, SIGN_ON_STATUS, signedOnContent, type ShownFault } from './sign-on-pages.ts'

const CALLBACK = '/sign-in/oidc/callback'
/** From the click to the way back. */
const MAXIMUM_SECONDS = 600
/** Concurrent requests of this process to the provider. */
const MAXIMUM_FINISHING = 16

interface Pending extends SignOnChecks {
  readonly next: string
  readonly expiresAt: string
}

/** Sign-in with the identity provider: out by one redirect, back by another. */
export function mountSignOn(
  app: FastifyInstance,
  parts: PageServerParts,
  signOn: SingleSignOn<OperatorRole>,
): void {
  const { address, assets, cookies, key, operator, sessions } = parts
  const { log, context } = operator
  let finishing = 0
  const queryOf = (request: FastifyRequest) =>
    new URL(request.url, requestOrigin(request.headers.host, address))

  app.get('/sign-in/oidc', async (request, reply) => {
    const { origin, search } = queryOf(request)
    try {
      const { url, checks } = await signOn.start(origin + CALLBACK)
      const next = localPath(fieldsOf(search).get('next'))
      const expiresAt = secondsAfter(context.clock.now(), MAXIMUM_SECONDS)
      const pending: Pending = { ...checks, next, expiresAt }
      cookies.set(reply, 'oidc', sealCookie(key, 'oidc', pending), MAXIMUM_SECONDS)
      return await reply.redirect(url, 303)
    } catch (error) {
      return refuse(reply, error)
    }
  })

  app.get(CALLBACK, async (request, reply) => {
    const pending = openCookie(key, 'oidc', cookies.read(request, 'oidc')) as Pending | undefined
    cookies.clear(reply, 'oidc')
    if (pending === undefined || pending.expiresAt <= context.clock.now()) return showFault(reply, 'expired')
    try {
      const token = await sessions.signInWithProvider(await finish(queryOf(request), pending))
      cookies.set(reply, 'session', token, SESSION_LIMITS.absoluteSeconds)
      // A redirect would still count as coming from the provider's site, without the strict cookie; a refresh does not.
      reply.header('refresh', `0; url=${pending.next}`)
      return send(reply, signedOnContent(pending.next))
    } catch (error) {
      return refuse(reply, error)
    }
  })

  /** Each call asks the provider. There is no limit by address, because everybody behind one proxy has one address. */
  async function finish(answer: URL, checks: SignOnChecks): Promise<Operator> {
    if (finishing >= MAXIMUM_FINISHING) throw new Problem('rate_limited', { retry_after_seconds: 1 })
    finishing += 1
    try {
      return operatorOf(await signOn.finish(answer, checks))
    } finally {
      finishing -= 1
    }
  }

  function refuse(reply: FastifyReply, error: unknown): FastifyReply {
    if (!(error instanceof SignOnFailure)) throw error
    const cause = error.cause instanceof Error ? error.cause : undefined
    // The cause names what differed. Its message has no token, but a stack could have addresses with codes.
    log.error(
      { fault: error.fault, cause: cause?.name, code: cause && Reflect.get(cause, 'code') },
      'sign-on failed',
    )
    return showFault(reply, error.fault)
  }

  function showFault(reply: FastifyReply, fault: ShownFault): FastifyReply {
    return send(reply.code(SIGN_ON_STATUS[fault]), signOnFaultContent(fault, signOn.issuer))
  }

  function send(reply: FastifyReply, content: Parameters<typeof consolePage>[3]): FastifyReply {
    const html = consolePage(assets, '/sign-in', undefined, content)
    return reply.type('text/html; charset=utf-8').send(String(html))
  }
}
