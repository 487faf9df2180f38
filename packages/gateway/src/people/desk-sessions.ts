import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Database, Transaction } from '@agent-exchange/database'
import type { DeskRole, DeskSession, DeskSessions } from '@agent-exchange/desk'
import { recordChange, type Actor } from './administration-record.ts'
import type { ListPage, PageRequest } from './list-page.ts'
import {
  ABSOLUTE_MS,
  IDLE_MS,
  KEPT_MS,
  MAXIMUM_NAME_CHARACTERS,
  MAXIMUM_SESSIONS_OF_PERSON,
  TOUCH_MS,
} from './people-limits.ts'
import { deleteOldLinks, useLink } from './person-links.ts'
import {
  findPerson,
  lockPersonOfProvider,
  namesOf,
  savePersonOfProvider,
  type Person,
} from './person-rows.ts'
import {
  deleteOldSessions,
  endOldest,
  endOne,
  findByToken,
  findProof,
  insertSession,
  listLiving,
  setAgent,
  touch,
  type SignedInBy,
} from './session-rows.ts'

const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/u

/** Whom the identity provider signed in. */
export interface ProviderPerson {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly email?: string
  readonly roles: readonly DeskRole[]
  /** The provider asked the person for this sign-in, rather than answer from a session of its own. */
  readonly isFresh: boolean
}

export interface ListedSession {
  readonly sessionId: string
  readonly personId: string
  readonly personName: string
  readonly signedInBy: SignedInBy
  readonly createdAt: string
  readonly lastSeenAt: string
}

export interface SignInProof {
  readonly signedInBy: SignedInBy
  /** Undefined: only a session at the provider says who it is. */
  readonly signedInAt: Date | undefined
}

export type PasskeySignIn = { readonly token: string } | { readonly refused: 'removed' | 'of_provider' }

/** Sessions of the desk, which all instances of a gateway share. Each sign-in returns a new token for the cookie. */
export interface GatewaySessions extends DeskSessions {
  /** Undefined if the link is unknown, used or too old, or its person was removed. */
  signInWithLink(secret: string): Promise<string | undefined>
  /** Undefined if the person was removed here. */
  signInWithProvider(person: ProviderPerson): Promise<string | undefined>
  /** After the passkey was verified. A person of the provider signs in there, where the company can end it. */
  signInWithPasskey(personId: string): Promise<PasskeySignIn>
  /** How the person proved who it is for this session. */
  proofOf(session: DeskSession): Promise<SignInProof>
  chooseAgent(session: DeskSession, agentId: string): Promise<void>
  /** False if the session had ended. */
  end(sessionId: string, actor: Actor): Promise<boolean>
  /** Newest first. */
  list(asked?: PageRequest): Promise<ListPage<ListedSession>>
  /** Deletes what ended long ago. */
  cleanUp(): Promise<void>
}

export function openDeskSessions({ db, now }: { db: Database; now: () => Date }): GatewaySessions {
  const alive = () => ({
    now: now().toISOString(),
    seenAfter: new Date(now().getTime() - IDLE_MS).toISOString(),
  })

  /** Signing in always makes a new token, so none can be fixed beforehand. */
  async function start(
    tx: Transaction,
    { id }: Pick<Person, 'id'>,
    by: SignedInBy,
    isFresh = true,
  ): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const at = now()
    const session = {
      session_id: `session_${randomUUID()}`,
      person_id: id,
      signed_in_by: by,
      created_at: at.toISOString(),
      expires_at: new Date(at.getTime() + ABSOLUTE_MS).toISOString(),
      proved_at: isFresh ? at.toISOString() : null,
    }
    await insertSession(tx, session, hashOf(token))
    await endOldest(tx, id, MAXIMUM_SESSIONS_OF_PERSON, at.toISOString())
    await recordChange(tx, {
      at: at.toISOString(),
      actor: { kind: 'person', id },
      action: 'session.start',
      target: session.session_id,
      details: { signed_in_by: by },
    })
    return token
  }

  return {
    async find(token, { isActivity }) {
      if (token === undefined || !TOKEN.test(token)) return undefined
      const row = await findByToken(db, hashOf(token), alive())
      const person = row && (await findPerson(db, row.person_id))
      if (!row || !person) return undefined
      const at = now()
      if (isActivity && at.getTime() - Date.parse(row.last_seen_at) >= TOUCH_MS)
        await touch(db, row.session_id, at.toISOString())
      return {
        id: row.session_id,
        person,
        signedInAt: row.created_at,
        ...(row.agent_id !== null && { agentId: row.agent_id }),
      }
    },

    signInWithLink: (secret) =>
      db.begin(async (tx) => {
        const personId = await useLink(tx, secret, now())
        const person = personId === undefined ? undefined : await findPerson(tx, personId)
        return person && start(tx, person, 'link')
      }),

    signInWithProvider: ({ issuer, subject, name, email, roles, isFresh }) =>
      db.begin(async (tx) => {
        const row = {
          id: `person_${randomUUID()}`,
          name: name.slice(0, MAXIMUM_NAME_CHARACTERS),
          roles,
          addedAt: now().toISOString(),
          ...(email !== undefined && { email: email.slice(0, MAXIMUM_NAME_CHARACTERS) }),
        }
        const before = await lockPersonOfProvider(tx, { issuer, subject })
        const person = await savePersonOfProvider(tx, row, { issuer, subject })
        if (person) await recordRoles(tx, person, { before, at: row.addedAt, issuer })
        return person && start(tx, person, 'provider', isFresh)
      }),

    signInWithPasskey: (personId) =>
      db.begin(async (tx) => {
        const person = await findPerson(tx, personId)
        if (!person) return { refused: 'removed' }
        if (person.isOfProvider) return { refused: 'of_provider' }
        return { token: await start(tx, person, 'passkey') }
      }),

    async proofOf({ id }) {
      const row = await findProof(db, id)
      const at = row?.proved_at ?? undefined
      return { signedInBy: row?.signed_in_by ?? 'provider', signedInAt: at === undefined ? at : new Date(at) }
    },

    chooseAgent: ({ id }, agentId) => setAgent(db, id, agentId),

    end: (sessionId, actor) =>
      db.begin(async (tx) => {
        const at = now().toISOString()
        const personId = await endOne(tx, sessionId, at)
        if (personId === undefined) return false
        const details = { person: personId }
        await recordChange(tx, { at, actor, action: 'session.end', target: sessionId, details })
        return true
      }),

    async list(asked = {}) {
      const { rows, ...page } = await listLiving(db, alive(), asked)
      const names = await namesOf(
        db,
        rows.map(({ person_id }) => person_id),
      )
      const listed = rows.map((row) => ({
        sessionId: row.session_id,
        personId: row.person_id,
        personName: names.get(row.person_id) ?? row.person_id,
        signedInBy: row.signed_in_by,
        createdAt: row.created_at,
        lastSeenAt: row.last_seen_at,
      }))
      return { rows: listed, ...page }
    },

    async cleanUp() {
      const before = new Date(now().getTime() - KEPT_MS).toISOString()
      await deleteOldSessions(db, before)
      await deleteOldLinks(db, before)
    },
  }
}

/** What the groups of the provider changed with this sign-in. */
async function recordRoles(
  tx: Transaction,
  { id: target, name, roles }: Person,
  { before, at, issuer }: { before: Person | undefined; at: string; issuer: string },
): Promise<void> {
  const actor = { kind: 'gateway', id: issuer } as const
  if (!before) {
    await recordChange(tx, { at, actor, action: 'person.add', target, details: { name, roles } })
  } else if (before.roles.join() !== roles.join()) {
    const details = { from: before.roles, to: roles }
    await recordChange(tx, { at, actor, action: 'person.role', target, details })
  }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest()
