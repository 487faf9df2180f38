import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { DESK_ROLES, type DeskPerson, type DeskRole } from '@agent-exchange/desk'
import { pageOf, rowsToRead, type ListPage, type PageRequest } from './list-page.ts'

/** Owner of the table person. */

export interface Person extends DeskPerson {
  readonly addedAt: string
  /** Whether the identity provider says who it is and which roles it has. */
  readonly isOfProvider: boolean
}

interface PersonRow {
  readonly person_id: string
  readonly name: string
  readonly email: string | null
  readonly roles: readonly string[]
  readonly issuer: string | null
  readonly added_at: string
}

export const isDeskRole = (text: string): text is DeskRole => DESK_ROLES.some((role) => role === text)

const toPerson = (row: PersonRow): Person => ({
  id: row.person_id,
  name: row.name,
  ...(row.email !== null && { email: row.email }),
  roles: row.roles.filter(isDeskRole),
  addedAt: row.added_at,
  isOfProvider: row.issuer !== null,
})

export async function insertPerson(
  tx: Transaction,
  { id, name, email = null, roles, addedAt }: NewPersonRow,
  maximum: number,
): Promise<boolean> {
  const { count } = await tx`
    insert into person (person_id, name, email, roles, added_at)
    select ${id}, ${name}, ${email}, ${[...roles]}, ${addedAt}
    where (select count(*) from person where removed_at is null) < ${maximum}`
  return count > 0
}

export interface NewPersonRow {
  readonly id: string
  readonly name: string
  readonly email?: string | null
  readonly roles: readonly DeskRole[]
  readonly addedAt: string
}

/** The person of an identity provider, with the name and the roles of this sign-in. Undefined: removed here. */
export async function savePersonOfProvider(
  tx: Transaction,
  { id, name, email = null, roles, addedAt }: NewPersonRow,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<Person | undefined> {
  const [row] = await tx<PersonRow[]>`
    insert into person (person_id, name, email, roles, issuer, subject, added_at)
    values (${id}, ${name}, ${email}, ${[...roles]}, ${issuer}, ${subject}, ${addedAt})
    on conflict (issuer, subject) do update
      set name = excluded.name, email = excluded.email, roles = excluded.roles
      where person.removed_at is null
    returning *`
  return row && toPerson(row)
}

/** Undefined if the person never signed in, or was removed. */
export async function lockPersonOfProvider(
  tx: Transaction,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<Person | undefined> {
  const [row] = await tx<PersonRow[]>`
    select * from person where issuer = ${issuer} and subject = ${subject} and removed_at is null for update`
  return row && toPerson(row)
}

/** Undefined if there is no such person, or it was removed. */
export async function findPerson(db: Queries, personId: string): Promise<Person | undefined> {
  const [row] = await db.byIndex<PersonRow[]>`
    select * from person where person_id = ${personId} and removed_at is null`
  return row && toPerson(row)
}

/** Of removed people too: their decisions stay. */
export async function namesOf(db: Queries, personIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db<{ person_id: string; name: string }[]>`
    select person_id, name from person where person_id = any(${[...personIds]})`
  return new Map(rows.map(({ person_id, name }) => [person_id, name]))
}

/** By name. `after` is the id of a person, who may have been removed since. */
export async function listPersonRows(db: Queries, asked: PageRequest = {}): Promise<ListPage<Person>> {
  const { after } = asked
  const later =
    after === undefined
      ? fragment``
      : fragment`and (name, person_id) > (select name, person_id from person where person_id = ${after})`
  const rows = await db<PersonRow[]>`
    select * from person where removed_at is null ${later}
    order by name, person_id limit ${rowsToRead(asked)}`
  return pageOf(rows.map(toPerson), asked, ({ id }) => id)
}

/** The first two are enough to know whether somebody is the last. Other changes of administrators wait. */
export async function lockAdministrators(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ person_id: string }[]>`
    select person_id from person where removed_at is null and 'administrator' = any(roles)
    order by person_id limit 2 for update`
  return rows.map(({ person_id }) => person_id)
}

export async function updateRoles(
  tx: Transaction,
  personId: string,
  roles: readonly DeskRole[],
): Promise<void> {
  await tx`update person set roles = ${[...roles]} where person_id = ${personId}`
}

/** False if there is no such person. */
export async function markRemoved(tx: Transaction, personId: string, at: string): Promise<boolean> {
  const { count } = await tx`
    update person set removed_at = ${at} where person_id = ${personId} and removed_at is null`
  return count > 0
}
