import { randomBytes } from 'node:crypto'
import { equalsInConstantTime } from '@agent-exchange/web'
import { LINK_VALID_MS, MAXIMUM_SESSIONS, REMEMBERED_LINKS, SESSION_VALID_MS } from './desk-limits.ts'

const SECRET_BYTES = 32

/** Why a link does not sign in. `unknown`: incomplete, or of an earlier run of the desk. */
export type LinkFault = 'used' | 'expired' | 'replaced' | 'unknown'

/** Who may use the desk: the browser that first opened the printed link. Kept in memory, so a restart ends it. */
export interface FolderSessions {
  /** Secret of a new link. An earlier link becomes invalid. */
  newLink(): string
  /** Exchanges the secret of the link for a session, once. */
  enter(secret: string): { readonly session: string } | { readonly fault: LinkFault }
  isValid(session: string | undefined): session is string
  /** When the session began, in ISO 8601. */
  since(session: string): string
  readonly csrfKey: Uint8Array
}

export function createFolderSessions(now: () => number): FolderSessions {
  const csrfKey = randomBytes(SECRET_BYTES)
  const sessions = new Map<string, number>()
  let link: { readonly secret: string; readonly until: number } | undefined
  const ended = new Map<string, 'used' | 'replaced'>()
  const random = () => randomBytes(SECRET_BYTES).toString('base64url')

  function endLink(how: 'used' | 'replaced'): void {
    if (link) ended.set(link.secret, how)
    link = undefined
    for (const oldest of [...ended.keys()].slice(0, -REMEMBERED_LINKS)) ended.delete(oldest)
  }

  return {
    newLink() {
      endLink('replaced')
      link = { secret: random(), until: now() + LINK_VALID_MS }
      return link.secret
    },
    enter(secret) {
      if (!link || !equalsInConstantTime(secret, link.secret))
        return { fault: ended.get(secret) ?? 'unknown' }
      if (now() > link.until) return { fault: 'expired' }
      endLink('used')
      const session = random()
      sessions.set(session, now() + SESSION_VALID_MS)
      for (const oldest of [...sessions.keys()].slice(0, -MAXIMUM_SESSIONS)) sessions.delete(oldest)
      return { session }
    },
    isValid: (session): session is string => session !== undefined && (sessions.get(session) ?? 0) > now(),
    since: (session) => new Date((sessions.get(session) ?? 0) - SESSION_VALID_MS).toISOString(),
    csrfKey,
  }
}
