import { randomUUID } from 'node:crypto'
import type { Database } from '@agent-exchange/database'
import type { DeskRole } from '@agent-exchange/desk'
import { removePasskeysOf } from '../approvals/passkey-rows.ts'
import { recordChange, type Actor, type ByActor } from './administration-record.ts'
import type { ListPage, PageRequest } from './list-page.ts'
import { MAXIMUM_NAME_CHARACTERS, MAXIMUM_PEOPLE } from './people-limits.ts'
import { endLinks, newLink } from './person-links.ts'
import {
  findPerson,
  insertPerson,
  listPersonRows,
  lockAdministrators,
  markRemoved,
  updateRoles,
  type Person,
} from './person-rows.ts'
import { endAllOf } from './session-rows.ts'

export interface NewPerson {
  readonly name: string
  readonly email?: string
  readonly roles: readonly DeskRole[]
}

/** Why people cannot be changed as asked, in a sentence. */
export class PeopleFailure extends Error {
  override readonly name = 'PeopleFailure'
}

export interface Invited {
  readonly personId: string
  /** Secret of a link that signs in once. Shown once, stored as a hash. */
  readonly link: string
}

/** Invites a person. Whoever opens the link first is that person. */
export async function addPerson(db: Database, now: Date, given: NewPerson, actor: Actor): Promise<Invited> {
  const [name, email] = [given.name.trim(), given.email?.trim()]
  if (name === '' || name.length > MAXIMUM_NAME_CHARACTERS)
    throw new PeopleFailure(`Give a name of 1 to ${MAXIMUM_NAME_CHARACTERS} characters.`)
  if (email !== undefined && !/^[^\s@<>]{1,100}@[^\s@<>]{1,150}$/u.test(email))
    throw new PeopleFailure('Give a mail address such as ida@company.example.')
  if (given.roles.length === 0) throw new PeopleFailure('Give at least one role.')
  const [personId, at] = [`person_${randomUUID()}`, now.toISOString()]
  const roles = [...new Set(given.roles)]
  return db.begin(async (tx) => {
    const person = { id: personId, name, roles, addedAt: at, ...(email !== undefined && { email }) }
    if (!(await insertPerson(tx, person, MAXIMUM_PEOPLE)))
      throw new PeopleFailure(`There are ${MAXIMUM_PEOPLE} people. Remove somebody first.`)
    await recordChange(tx, { at, actor, action: 'person.add', target: personId, details: { name, roles } })
    return { personId, link: await newLink(tx, personId, now) }
  })
}

/** A new link for a person who was invited here, such as one who lost the passkey. */
export async function renewLink(db: Database, now: Date, personId: string, actor: Actor): Promise<Invited> {
  return db.begin(async (tx) => {
    const person = await findPerson(tx, personId)
    if (!person) throw new PeopleFailure(`There is no ${personId}.`)
    if (person.isOfProvider)
      throw new PeopleFailure(`${person.name} signs in with the identity provider and gets no link.`)
    const at = now.toISOString()
    // Whoever opens the link is the person from then on: a session of before belongs to nobody in particular.
    const sessions = await endAllOf(tx, personId, at)
    await recordChange(tx, { at, actor, action: 'person.link', target: personId, details: { sessions } })
    return { personId, link: await newLink(tx, personId, now) }
  })
}

/** Other roles for a person who was invited here. Every session has them at its next page. */
export function changeRoles(
  db: Database,
  personId: string,
  given: readonly DeskRole[],
  { actor, now }: ByActor,
): Promise<void> {
  const roles = [...new Set(given)]
  if (roles.length === 0) throw new PeopleFailure('Give at least one role.')
  return db.begin(async (tx) => {
    const administrators = await lockAdministrators(tx)
    const person = await findPerson(tx, personId)
    if (!person) throw new PeopleFailure(`There is no ${personId}.`)
    if (person.isOfProvider)
      throw new PeopleFailure(`${person.name} has the roles that the groups of the identity provider give.`)
    if (!roles.includes('administrator')) requireOther(administrators, personId)
    await updateRoles(tx, personId, roles)
    const details = { from: person.roles, to: roles }
    await recordChange(tx, { at: now.toISOString(), actor, action: 'person.role', target: personId, details })
  })
}

function requireOther(administrators: readonly string[], personId: string): void {
  if (administrators.length === 1 && administrators[0] === personId)
    throw new PeopleFailure('This is the last administrator. Give somebody else the role first.')
}

/** The person is signed out everywhere and cannot sign in again. False if there is no such person. */
export function removePerson(db: Database, now: Date, personId: string, actor: Actor): Promise<boolean> {
  const at = now.toISOString()
  return db.begin(async (tx) => {
    requireOther(await lockAdministrators(tx), personId)
    if (!(await markRemoved(tx, personId, at))) return false
    await endLinks(tx, personId)
    await removePasskeysOf(tx, personId, at)
    const sessions = await endAllOf(tx, personId, at)
    await recordChange(tx, { at, actor, action: 'person.remove', target: personId, details: { sessions } })
    return true
  })
}

export const listPeople = (db: Database, asked?: PageRequest): Promise<ListPage<Person>> =>
  listPersonRows(db, asked)
