import type { Connection as DriverConnection } from 'pg'
import { PLAN_OUTDATED, sqlState } from '../sql-state.ts'
import { writeExecution } from './bind.ts'
import { readerOf } from './column-values.ts'
import { lossOr } from './connection-lost.ts'
import type { MessageWriter } from './message-writer.ts'
import type { Column, Prepared, PreparedStatements } from './prepared-statements.ts'
import { answerOf, type Request, type Row } from './statement.ts'

interface Sent {
  readonly request: Request
  readonly prepared: Prepared
  readonly isNew: boolean
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/**
 * Statements that are sent together and end with one sync: the server answers them in their order, and where one of
 * them fails it passes over those behind it. It has the shape of what the driver calls a query.
 */
export class Segment {
  readonly #sent: Sent[] = []
  readonly #statements: PreparedStatements
  readonly #out: MessageWriter
  #at = 0
  #rows: Row[] = []
  /** What is wrong with the rows of the statement that is being answered. */
  #unreadable: unknown

  constructor(requests: readonly Request[], out: MessageWriter, statements: PreparedStatements) {
    this.#statements = statements
    this.#out = out
    requests.every((request, index) => {
      const start = out.mark
      try {
        this.#write(request)
        return true
      } catch (error) {
        // As if the server had refused it: nothing behind it is carried out either.
        out.backTo(start)
        for (const refused of requests.slice(index)) refused.reject(error)
        return false
      }
    })
    out.bare('S')
  }

  #write(request: Request): void {
    const out = this.#out
    const { prepared, isNew } = this.#statements.prepare(request.text, out)
    try {
      writeExecution(out, prepared.name, request.values ?? [])
      request.copied?.(out)
    } catch (error) {
      if (isNew) this.#statements.forget(prepared)
      throw error
    }
    this.#sent.push({ request, prepared, isNew })
  }

  submit({ stream }: DriverConnection): void {
    const { written, giveBack } = this.#out.take()
    stream.write(written, giveBack)
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const prepared = this.#sent[this.#at]?.prepared
    if (prepared) prepared.columns = columnsIn(fields)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(rowOf(this.#sent[this.#at]?.prepared.columns ?? [], fields))
    } catch (error) {
      this.#unreadable ??= error
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const [request, rows, unreadable] = [this.#sent[this.#at++]?.request, this.#rows, this.#unreadable]
    this.#rows = []
    this.#unreadable = undefined
    if (unreadable === undefined) request?.resolve(answerOf(rows, text))
    else request?.reject(unreadable)
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  /** It reads what was sent right behind the statement. */
  handleCopyInResponse(): void {}

  handleError(error: unknown): void {
    if (sqlState(error) === PLAN_OUTDATED) this.#statements.forgetAll()
    for (const { request, prepared, isNew } of this.#sent.slice(this.#at)) {
      if (isNew) this.#statements.forget(prepared)
      request.reject(lossOr(error))
    }
  }

  handleReadyForQuery(): void {}
}

/** Text alone, without values: it may be several statements. The answer is that of the last one. */
export class TextSegment {
  readonly #request: Request
  readonly #out: MessageWriter
  #columns: readonly Column[] = []
  #rows: Row[] = []
  #answer = answerOf([], '')

  constructor(request: Request, out: MessageWriter) {
    this.#request = request
    this.#out = out
  }

  /** Returns why it cannot be sent, where it cannot. */
  submit({ stream }: DriverConnection): unknown {
    const start = this.#out.mark
    try {
      this.#out.begin('Q').terminated(this.#request.text).finish()
    } catch (error) {
      this.#out.backTo(start)
      this.#request.reject(error)
      return error
    }
    const { written, giveBack } = this.#out.take()
    stream.write(written, giveBack)
    return undefined
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#columns = columnsIn(fields)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(rowOf(this.#columns, fields))
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#answer = answerOf(this.#rows, text)
    this.#rows = []
  }

  handleEmptyQuery(): void {}

  handleError(error: unknown): void {
    this.#request.reject(lossOr(error))
  }

  handleReadyForQuery(): void {
    this.#request.resolve(this.#answer)
  }
}

function columnsIn(fields: readonly Field[]): Column[] {
  return fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }))
}

function rowOf(columns: readonly Column[], fields: readonly (string | null)[]): Row {
  const row: Row = {}
  columns.forEach(({ name, read }, index) => {
    const text = fields[index] ?? null
    row[name] = text === null ? null : read(text)
  })
  return row
}
