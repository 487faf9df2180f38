import { secondsAfter } from '@agent-exchange/server/clock'
import { endSession, findSessionById, listSessions } from '../../features/operators/operator-session-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { listPage, page } from '../listing.ts'
import { change, input, read, reason, type Route } from '../route.ts'
import { SESSION_LIMITS } from '../session-limits.ts'

interface Position {
  readonly created_at: string
  readonly session_id: string
}

const positionOf = ({ created_at, session_id }: Position) => JSON.stringify({ created_at, session_id })

/** Browser sessions that are alive. */
export const readSessions = read(
  '/sessions',
  page,
  (call, db) => {
    const rows = (after: string | undefined, limit: number) => {
      const position = after === undefined ? undefined : (JSON.parse(after) as Position)
      return listSessions(db, aliveAt(call.now), { after: position, limit })
    }
    return listPage(call, { name: ['sessions'], rows, position: positionOf }, (row) => row)
  },
  { role: 'administrator' },
)

export const readSession = read(
  '/sessions/:session_id',
  input({}),
  async ({ params, now }, db) => {
    const session = await findSessionById(db, params['session_id'] ?? '', aliveAt(now))
    if (!session) throw new Problem('resource_not_found')
    return session
  },
  { role: 'administrator' },
)

/** Effective with the next request of the session. */
export const revokeSession = change(
  '/sessions/:session_id/revoke',
  { body: input({ reason }), role: 'administrator' },
  async ({ params, now }, tx) => {
    const target = params['session_id'] ?? ''
    const operator = await endSession(tx, target, now)
    if (operator === undefined) throw new Problem('resource_not_found')
    const answer = { session_id: target, operator_name: operator, ended_at: now }
    return { answer, action: 'session.revoke', target, details: { operator_name: operator } }
  },
)

export const sessionRoutes: readonly Route[] = [readSessions, readSession, revokeSession]

function aliveAt(now: string) {
  return { now, seenAfter: secondsAfter(now, -SESSION_LIMITS.idleSeconds) }
}
