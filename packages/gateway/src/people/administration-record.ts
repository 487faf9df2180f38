import { fragment, type Database, type Queries, type Transaction } from '@agent-exchange/database'
import { pageOf, rowsToRead, type ListPage, type PageRequest } from './list-page.ts'

/** Owner of the table administration_record, which the database lets nobody change. */

/** Who changed something: a person at the desk, or whoever runs commands on the machine of the gateway. */
export interface Actor {
  readonly kind: 'person' | 'command' | 'gateway'
  readonly id: string
}

/** Who makes a change, and when. */
export interface ByActor {
  readonly actor: Actor
  readonly now: Date
}

export interface AdministrationEntry {
  readonly at: string
  readonly actor: Actor
  /** Such as person.add or session.end. */
  readonly action: `${string}.${string}`
  /** The id of what was changed. */
  readonly target: string
  /** Without content and without secrets. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** An entry with its place in the record. */
export interface NumberedEntry extends AdministrationEntry {
  readonly number: string
}

/** A number of the record. PostgreSQL compares it as bigint. */
export const isEntryNumber = (text: string): boolean => /^\d{1,18}$/u.test(text)

export async function recordChange(tx: Transaction, entry: AdministrationEntry): Promise<void> {
  const { at, actor, action, target, details = {} } = entry
  await tx`
    insert into administration_record (at, actor_kind, actor_id, action, target, details)
    values (${at}, ${actor.kind}, ${actor.id}, ${action}, ${target}, ${JSON.stringify(details)})`
}

/** A change and its entry share a transaction. Without an entry, nothing was changed. */
export function recordedChange<T>(
  db: Database,
  { actor, now }: ByActor,
  work: (tx: Transaction) => Promise<T>,
  entryOf: (result: T) => Pick<AdministrationEntry, 'action' | 'target' | 'details'> | undefined,
): Promise<T> {
  return db.begin(async (tx) => {
    const result = await work(tx)
    const entry = entryOf(result)
    if (entry) await recordChange(tx, { at: now.toISOString(), actor, ...entry })
    return result
  })
}

/** Newest first. `after` is the number of an entry: older ones follow it. */
export async function listChanges(db: Queries, asked: PageRequest = {}): Promise<ListPage<NumberedEntry>> {
  const { after } = asked
  const older = after === undefined ? fragment`` : fragment`where number < ${after}::bigint`
  const rows = await db<AdministrationRow[]>`
    select number::text as number, at, actor_kind, actor_id, action, target, details
    from administration_record ${older}
    order by administration_record.number desc limit ${rowsToRead(asked)}`
  return pageOf(rows.map(toEntry), asked, ({ number }) => number)
}

function toEntry(row: AdministrationRow): NumberedEntry {
  const { number, at, actor_kind, actor_id, action, target, details } = row
  return {
    number,
    at,
    actor: { kind: actor_kind, id: actor_id },
    action,
    target,
    details: JSON.parse(details) as Record<string, unknown>,
  }
}

interface AdministrationRow {
  readonly number: string
  readonly at: string
  readonly actor_kind: Actor['kind']
  readonly actor_id: string
  readonly action: AdministrationEntry['action']
  readonly target: string
  readonly details: string
}
