import type pg from 'pg'
import { serialize } from 'pg-protocol'
import type { Answer, Row, Statement, Value } from './queries.ts'
import { lossOr, PLAN_OUTDATED, sqlState } from './database-errors.ts'
import { createRowReader, toParameter, type RowReader } from './value-types.ts'

export interface Request {
  readonly statement: Statement
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** A statement that the server has parsed. Only the first answer describes the rows, so the reader is kept. */
export interface Prepared {
  readonly name: string
  readonly reader: RowReader
}

/** The prepared statements of one connection by their texts. */
export type PreparedStatements = Map<string, Prepared>

interface Sent extends Request {
  readonly prepared: Prepared
  readonly isNew: boolean
}

let lastName = 0

/**
 * Statements that are sent together with one sync at the end. PostgreSQL answers them in order; if one of them
 * fails, it skips the rest. pg calls the handlers, as it does those of its own queries.
 */
export class Pipeline implements pg.Submittable {
  readonly #requests: readonly Request[]
  /** Undefined: no statement gets a name, and each is parsed each time. */
  readonly #known: PreparedStatements | undefined
  readonly #sent: Sent[] = []
  #at = 0
  #rows: Row[] = []
  #unreadable: unknown

  constructor(requests: readonly Request[], known: PreparedStatements | undefined) {
    this.#requests = requests
    this.#known = known
  }

  /** As one buffer: a vectored write of many small ones costs more than copying them. */
  submit({ stream }: pg.Connection): void {
    const messages: Uint8Array[] = []
    for (const request of this.#requests) this.#add(request, messages)
    messages.push(serialize.sync())
    stream.write(Buffer.concat(messages))
  }

  #add(request: Request, messages: Uint8Array[]): void {
    const { text, values, copyData } = request.statement
    const known = this.#known?.get(text)
    const prepared = known ?? { name: this.#known ? `s${++lastName}` : '', reader: createRowReader() }
    this.#sent.push({ ...request, prepared, isNew: !known })
    if (!known) {
      this.#known?.set(text, prepared)
      messages.push(
        serialize.parse({ name: prepared.name, text }),
        serialize.describe({ type: 'S', name: prepared.name }),
      )
    }
    messages.push(
      serialize.bind({ statement: prepared.name, values: values as Value[], valueMapper: toParameter }),
      serialize.execute(),
    )
    // Without waiting for CopyInResponse: the server reads the rows after the statement.
    if (copyData) messages.push(...copyData, serialize.copyDone())
  }

  handleRowDescription({ fields }: { readonly fields: pg.FieldDef[] }): void {
    this.#sent[this.#at]?.prepared.reader.addFields(fields)
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    try {
      const row = this.#sent[this.#at]?.prepared.reader.parseRow(fields)
      if (row) this.#rows.push(row)
    } catch (error) {
      this.#unreadable ??= error
    }
  }

  /** The text is the command and, for most commands, at its end the number of rows: INSERT 0 3. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    const sent = this.#sent[this.#at++]
    const [command = '', ...rest] = text.split(' ')
    const answer = Object.assign(this.#rows, { command, count: Number(rest.at(-1)) || 0 })
    if (this.#unreadable === undefined) sent?.resolve(answer)
    else sent?.reject(this.#unreadable)
    this.#rows = []
    this.#unreadable = undefined
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleCopyInResponse(): void {}

  handleReadyForQuery(): void {}

  handleError(error: unknown): void {
    if (sqlState(error) === PLAN_OUTDATED) this.#known?.clear()
    for (const { statement, isNew, reject } of this.#sent.slice(this.#at)) {
      // It is unknown whether the server has parsed it.
      if (isNew) this.#known?.delete(statement.text)
      reject(lossOr(error))
    }
  }
}
