import type { DeskPerson } from './desk-person.ts'

/** A browser in which a person is signed in. */
export interface DeskSession {
  /** Not the value of the cookie. CSRF tokens are bound to it. */
  readonly id: string
  readonly person: DeskPerson
  /** ISO 8601. Whoever changes passkeys has to have signed in recently. */
  readonly signedInAt: string
  /** The agent that the person chose last. */
  readonly agentId?: string
}

/** Who is signed in: of a folder in memory, of a gateway in its database. */
export interface DeskSessions {
  /** `isActivity`: false for requests that a page makes by itself; they do not keep a session alive. */
  find(
    cookie: string | undefined,
    options: { readonly isActivity: boolean },
  ): Promise<DeskSession | undefined>
}
