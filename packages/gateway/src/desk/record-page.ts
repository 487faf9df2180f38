import type { Database } from '@agent-exchange/database'
import type { DeskAnswer, HostCall } from '@agent-exchange/desk'
import { labelOf } from '@agent-exchange/sdk/internal'
import { html, relativeTime, shortId, table, visible, type Html } from '@agent-exchange/web'
import { isEntryNumber, listChanges, type NumberedEntry } from '../people/administration-record.ts'
import { namesOf } from '../people/person-rows.ts'
import { RECORD_TEXTS as T } from './desk-texts.ts'
import { askedPage, pagingOf } from './list-paging.ts'

export const RECORD_PATH = '/record'

type Names = ReadonlyMap<string, string>

/** Every change that somebody made, newest first. */
export async function recordPage(db: Database, call: HostCall): Promise<DeskAnswer> {
  const { after, ...asked } = askedPage(call)
  const isNumber = after !== undefined && isEntryNumber(after)
  const page = await listChanges(db, { ...asked, ...(isNumber && { after }) })
  const names = await namesOf(db, [...new Set(page.rows.flatMap(peopleIn))])
  return {
    kind: 'page',
    title: T.record,
    section: RECORD_PATH,
    main: table({
      caption: T.record,
      hidesCaption: true,
      columns: T.columns.map((title) => ({ title })),
      rows: page.rows.map((entry) => [
        relativeTime(new Date(entry.at), call.now),
        actorOf(entry, names),
        html`${wordsOf(entry.action)}<br /><span class="below">${targetOf(entry, names)}</span>`,
        detailsOf(entry, names),
      ]),
      empty: { title: T.none, text: T.noneText },
      paging: pagingOf(RECORD_PATH, call, page),
    }),
  }
}

const PERSON = /^person_/u

/** Ids of people whom the entry names. */
function peopleIn({ actor, target, details }: NumberedEntry): readonly string[] {
  const found = [actor.id, target, ...Object.values(details ?? {})]
  return found.filter((each): each is string => typeof each === 'string' && PERSON.test(each))
}

function actorOf({ actor: { kind, id } }: NumberedEntry, names: Names): Html {
  const name = names.get(id)
  return name === undefined
    ? html`${T.by[kind]} <bdi>${visible(id)}</bdi>`
    : html`<bdi>${visible(name)}</bdi>`
}

/** A newer instance may have written an action that this one has no words for. */
const wordsOf = (action: string): string =>
  (T.actions as Readonly<Record<string, string>>)[action] ?? action.replaceAll('.', ' ')

function targetOf({ target }: NumberedEntry, names: Names): Html {
  const name = names.get(target)
  return name === undefined ? shortId(target) : html`<bdi>${visible(name)}</bdi> ${shortId(target)}`
}

/** A line for each detail. */
function detailsOf({ details = {} }: NumberedEntry, names: Names): readonly Html[] {
  return Object.entries(details).map(
    ([name, value]) => html`${labelOf(snakeCase(name))}: <bdi>${visible(textOf(value, names))}</bdi><br />`,
  )
}

/** Details of rules have names such as packageType. */
const snakeCase = (name: string) => name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)

function textOf(value: unknown, names: Names): string {
  if (value === null) return T.nothing
  if (typeof value === 'string') return names.get(value) ?? value
  if (!Array.isArray(value)) return JSON.stringify(value)
  return value.map((each: unknown) => textOf(each, names)).join(', ') || T.nothing
}
