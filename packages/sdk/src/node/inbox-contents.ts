import { InboxFile } from './sqlite-inbox-file.ts'
import type { EventRow, GapRow } from './sqlite-inbox-rows.ts'

export interface WholeEventRow extends EventRow {
  readonly acknowledge_mark: number | null
  readonly acknowledged_at: string | null
}

/** The rows of an inbox file. Those that can be many are read while they are iterated. */
export interface InboxContents {
  readonly stream: string | undefined
  readonly cursor: string | undefined
  readonly polledThrough: number
  readonly contiguous: number
  readonly highest: number
  readonly prunedThrough: number
  /** What the receiver keeps, by name. */
  readonly values: readonly { readonly name: string; readonly value: string }[]
  readonly events: Iterable<WholeEventRow>
  readonly gaps: readonly GapRow[]
  readonly subjects: Iterable<string>
  /** Tables of the application in the same file. They do not belong to the agent. */
  readonly applicationTables: readonly string[]
}

const KEPT = 'kept.'

export function readInboxContents(path: string, cleanup: DisposableStack): InboxContents {
  const file = cleanup.adopt(new InboxFile(path), (each) => each.close())
  return {
    stream: file.value('stream'),
    cursor: file.value('cursor'),
    polledThrough: file.number('polled_through'),
    contiguous: file.number('contiguous'),
    highest: file.number('highest'),
    prunedThrough: file.number('pruned_through', -1),
    values: file
      .all<{ name: string; value: string }>('select name, value from aex_value order by name')
      .filter(({ name }) => name.startsWith(KEPT))
      .map(({ name, value }) => ({ name: name.slice(KEPT.length), value })),
    events: eventsOf(file),
    gaps: file.all<GapRow>('select * from aex_gap order by first_sequence'),
    subjects: subjectsOf(file),
    applicationTables: file
      .all<{ name: string }>("select name from sqlite_schema where type = 'table' order by name")
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('aex_') && !name.startsWith('sqlite_')),
  }
}

function* eventsOf({ database }: InboxFile): Iterable<WholeEventRow> {
  const rows: Iterable<unknown> = database.prepare('select * from aex_event order by sequence').iterate()
  for (const row of rows) yield row as WholeEventRow
}

function* subjectsOf({ database }: InboxFile): Iterable<string> {
  const rows = database.prepare('select subject from aex_finished_subject order by subject')
  for (const { subject } of rows.iterate()) yield String(subject)
}
