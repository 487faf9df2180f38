import { randomBytes } from 'node:crypto'
import { CSRF_FIELD, csrfToken, isCsrfToken, localPath } from '@agent-exchange/web'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../../kernel/problem.ts'
import { admitAnonymousForm } from '../../operator/form-body.ts'
import { SESSION_LIMITS } from '../../operator/session-limits.ts'
import { fieldsOf } from '../fields.ts'
import { flashCookie, readFlash } from '../flash-cookie.ts'
import { consolePage } from '../layout.ts'
import type { PageServerParts } from '../page-server.ts'
import { mountSignOn } from './sign-on.ts'
import { signInContent } from './sign-in-page.ts'

const VISIT_BYTES = 16
const VISIT = /^[\w-]{22}$/u

/** Sign-in and sign-out: the only pages without a session. */
export function mountSignIn(app: FastifyInstance, parts: PageServerParts): void {
  const { assets, cookies, key, limitSignIn, sessions } = parts
  const admitForm = admitAnonymousForm(parts.operator)
  const current = (request: FastifyRequest) =>
    sessions.find(cookies.read(request, 'session'), { isActivity: true })
  /** Binds the form to this browser before there is a session. */
  const visitOf = (request: FastifyRequest) => {
    const visit = cookies.read(request, 'sign-in')
    return visit !== undefined && VISIT.test(visit) ? visit : undefined
  }

  app.get('/sign-in', async (request, reply) => {
    const next = localPath(fieldsOf(new URL(request.url, 'http://console.invalid').search).get('next'))
    if (await current(request)) return reply.redirect(next, 303)
    const visit = visitOf(request) ?? randomBytes(VISIT_BYTES).toString('base64url')
    cookies.set(reply, 'sign-in', visit)
    const flash = readFlash(key, cookies.read(request, 'flash'))
    if (flash) cookies.clear(reply, 'flash')
    const content = signInContent({
      csrfToken: csrfToken(key, `sign-in ${visit}`),
      next,
      issuer: parts.signOn?.issuer,
    })
    const html = consolePage(assets, '/sign-in', undefined, { ...content, flash: flash ? [flash] : [] })
    return reply.type('text/html; charset=utf-8').send(String(html))
  })

  app.post('/sign-in', { onRequest: admitForm }, async (request, reply) => {
    const form = fieldsOf(typeof request.body === 'string' ? request.body : '')
    const visit = visitOf(request)
    if (visit === undefined || !isCsrfToken(key, `sign-in ${visit}`, form.get(CSRF_FIELD)))
      throw new Problem('not_permitted', { csrf_token: 'not_valid' })
    const next = localPath(form.get('next'))
    try {
      const token = await limitSignIn(request.raw.socket.remoteAddress, () =>
        sessions.signInWithToken(form.get('token') ?? ''),
      )
      const former = await current(request)
      if (former) await sessions.signOut(former)
      cookies.clear(reply, 'sign-in')
      cookies.set(reply, 'session', token, SESSION_LIMITS.absoluteSeconds)
      return reply.redirect(next, 303)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'access_token_invalid') throw error
      const title = 'This token is not valid.'
      const text = 'It may belong to another exchange, or its operator was disabled.'
      cookies.set(reply, 'flash', flashCookie(key, { tone: 'bad', title, text }))
      return reply.redirect(`/sign-in${next === '/' ? '' : `?next=${encodeURIComponent(next)}`}`, 303)
    }
  })

  if (parts.signOn) mountSignOn(app, parts, parts.signOn)

  app.post('/sign-out', { onRequest: admitForm }, async (request, reply) => {
    const session = await current(request)
    const form = fieldsOf(typeof request.body === 'string' ? request.body : '')
    if (session) {
      if (!isCsrfToken(key, session.sessionId, form.get(CSRF_FIELD)))
        throw new Problem('not_permitted', { csrf_token: 'not_valid' })
      await sessions.signOut(session)
    }
    cookies.clear(reply, 'session')
    return reply.redirect('/sign-in', 303)
  })
}
