import type { MessageWriter } from './message-writer.ts'

/** More texts than the service has; what is made up as it goes along shall not fill the server's memory. */
const MAXIMUM_KNOWN = 400

export interface Column {
  readonly name: string
  readonly read: (text: string) => unknown
}

/** A statement that the server has parsed under a name, and what its rows are made of. */
export interface Prepared {
  readonly text: string
  readonly name: string
  columns: readonly Column[]
}

/** What one connection has prepared. */
export class PreparedStatements {
  readonly #byText = new Map<string, Prepared>()
  readonly #isNamed: boolean
  #count = 0
  #toClose: string[] = []

  /** Without names, each statement is parsed each time: for what stands between us and the server and forgets them. */
  constructor({ isNamed }: { readonly isNamed: boolean }) {
    this.#isNamed = isNamed
  }

  /** Writes what the server needs to know it by its name, where that is news. */
  prepare(text: string, out: MessageWriter): { readonly prepared: Prepared; readonly isNew: boolean } {
    const known = this.#byText.get(text)
    if (known) return { prepared: known, isNew: false }
    this.#closeSome(out)
    const prepared = { text, name: this.#isNamed ? `s${++this.#count}` : '', columns: [] }
    if (this.#isNamed) this.#byText.set(text, prepared)
    // No types: the server settles those of the values by where they stand.
    out.begin('P').terminated(prepared.name).terminated(text).int16(0).finish()
    out.begin('D').raw(STATEMENT).terminated(prepared.name).finish()
    return { prepared, isNew: true }
  }

  /** The server may or may not have parsed it. */
  forget({ text, name }: Prepared): void {
    if (this.#byText.delete(text)) this.#toClose.push(name)
  }

  forgetAll(): void {
    for (const prepared of this.#byText.values()) this.forget(prepared)
  }

  #closeSome(out: MessageWriter): void {
    if (this.#byText.size >= MAXIMUM_KNOWN) {
      const [oldest] = this.#byText.values()
      if (oldest) this.forget(oldest)
    }
    for (const name of this.#toClose) out.begin('C').raw(STATEMENT).terminated(name).finish()
    this.#toClose = []
  }
}

const STATEMENT = Buffer.from('S')
