import { randomBytes } from 'node:crypto'
import { type Database, inTransaction } from '@agent-exchange/database'
import { secondsAfter, secondsBetween, type Clock } from '@agent-exchange/server/clock'
import { appendToLog } from '../features/operators/operator-log-store.ts'
import {
  endOldestSessions,
  endSession,
  findSession,
  insertSession,
  touchSession,
  type SessionRow,
} from '../features/operators/operator-session-store.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Operator } from '../kernel/operator-roles.ts'
import { hashToken, operatorOfToken } from './operator-token.ts'
import type { SessionLimits } from './session-limits.ts'

const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/u
/** A session that is in use is written at most this often. */
const TOUCH_SECONDS = 60

export interface Session {
  readonly sessionId: string
  readonly operator: Operator
  readonly expiresAt: string
}

interface SessionSettings {
  readonly db: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly limits: SessionLimits
}

export type Sessions = ReturnType<typeof createSessions>

/** Browser sessions: rows that all replicas share. Signing in always makes a new token, so none can be fixed beforehand. */
export function createSessions({ db, clock, newId, limits }: SessionSettings) {
  async function start(
    operatorName: string,
    by: Pick<SessionRow, 'signed_in_by'> & { readonly role: Operator['role'] | undefined },
  ): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const now = clock.now()
    const sessionId = newId('session')
    await inTransaction(db, async (tx) => {
      await insertSession(tx, {
        sessionId,
        tokenHash: hashToken(token),
        operatorName,
        role: by.role,
        signedInBy: by.signed_in_by,
        now,
        expiresAt: secondsAfter(now, limits.absoluteSeconds),
      })
      await endOldestSessions(tx, { operatorName, keep: limits.sessionsPerOperator, now })
      await appendToLog(tx, {
        actor: operatorName,
        action: 'session.start',
        target: sessionId,
        reason: undefined,
        details: { signed_in_by: by.signed_in_by },
        now,
      })
    })
    return token
  }

  return {
    /** The token of a new session, for the cookie. */
    async signInWithToken(operatorToken: string): Promise<string> {
      const { name } = await operatorOfToken(db, operatorToken)
      return start(name, { signed_in_by: 'token', role: undefined })
    },

    signInWithProvider: ({ name, role }: Operator): Promise<string> =>
      start(name, { signed_in_by: 'oidc', role }),

    /** `isActivity`: false for requests that the page makes by itself; they do not keep a session alive. */
    async find(
      token: string | undefined,
      { isActivity }: { readonly isActivity: boolean },
    ): Promise<Session | undefined> {
      if (token === undefined || !TOKEN.test(token)) return undefined
      const now = clock.now()
      const seenAfter = secondsAfter(now, -limits.idleSeconds)
      const row = await findSession(db, hashToken(token), { now, seenAfter })
      if (!row) return undefined
      const { session_id: sessionId, operator_name: name, role, expires_at: expiresAt } = row
      if (isActivity && secondsBetween(row.last_seen_at, now) >= TOUCH_SECONDS)
        await touchSession(db, sessionId, now)
      return { sessionId, operator: { name, role }, expiresAt }
    },

    async signOut({ sessionId, operator }: Session): Promise<void> {
      const now = clock.now()
      await inTransaction(db, async (tx) => {
        if ((await endSession(tx, sessionId, now)) === undefined) return
        await appendToLog(tx, {
          actor: operator.name,
          action: 'session.end',
          target: sessionId,
          reason: undefined,
          details: {},
          now,
        })
      })
    },
  }
}
