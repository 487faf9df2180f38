import type { MessageWriter } from './message-writer.ts'

/** What a statement may be given. The server settles the type of each by where it stands. */
export type Value = string | number | boolean | null | Uint8Array | readonly (string | null)[]

/** Part of another statement, or of its text. */
export type Part = Value | Statement<readonly object[]> | Identifier

export type Row = Record<string, unknown>

/** What the server said of a statement: its rows, how many it touched, and the name of the command. */
export type Answer<Rows extends readonly object[]> = Rows & {
  readonly count: number
  readonly command: string
}

/** A statement on its way to the server. */
export interface Request {
  readonly text: string
  /** None: it may be several statements, and is sent as text alone. */
  readonly values: readonly Value[] | undefined
  /** What a copy sends behind it. */
  readonly copied?: ((out: MessageWriter) => void) | undefined
  readonly resolve: (answer: Answer<Row[]>) => void
  readonly reject: (error: unknown) => void
}

export type Send = (request: Request) => void

/** A name in the text of a statement. */
export class Identifier {
  readonly text: string

  constructor(name: string) {
    this.text = `"${name.replaceAll('"', '""')}"`
  }
}

/** Text with parts between its pieces, or text that is complete. */
type Source = Template | Complete

interface Template {
  readonly texts: readonly string[]
  readonly parts: readonly Part[]
}

type Complete = Pick<Request, 'text' | 'values' | 'copied'>

/**
 * A statement that was written. It is sent when somebody waits for it, or by `execute`, once; one that stands in another
 * is part of that, and is not sent itself.
 */
export class Statement<Rows extends readonly object[]> extends Promise<Answer<Rows>> {
  // What `then` returns is a promise like any other.
  static override get [Symbol.species]() {
    return Promise
  }

  readonly #settle: Pick<Request, 'resolve' | 'reject'>
  readonly #send: Send
  #source: Source | undefined

  /** Where somebody listens for failures, one that nobody waits for is not unheard. */
  constructor(source: Source, send: Send, onFailure?: (error: unknown) => void) {
    const settle = {} as Pick<Request, 'resolve' | 'reject'>
    super((resolve, reject) => Object.assign(settle, { resolve, reject }))
    this.#settle = settle
    this.#source = source
    this.#send = send
    if (onFailure) void super.then(undefined, onFailure)
  }

  execute(): this {
    const source = this.#source
    if (!source) return this
    // It may live for longer than what it sent should.
    this.#source = undefined
    try {
      this.#send({ ...('texts' in source ? render(source) : source), ...this.#settle })
    } catch (error) {
      this.#settle.reject(error)
    }
    return this
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise has it, and this one is not sent before
  override then<A = Answer<Rows>, B = never>(
    onDone?: ((answer: Answer<Rows>) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    void this.execute()
    return super.then(onDone, onFailed)
  }

  /** For a statement that it is part of. */
  get template(): Template {
    const source = this.#source
    if (!source || !('texts' in source)) throw new TypeError('what was sent is no part of a statement')
    return source
  }
}

interface Rendered {
  readonly text: string
  readonly values: readonly Value[]
}

/** Texts with values alone between them, as most are, have the same text each time. */
const known = new WeakMap<readonly string[], string>()

function render({ texts, parts }: Template): Rendered {
  if (parts.every(isValue)) {
    let text = known.get(texts)
    if (text === undefined) known.set(texts, (text = numbered(texts)))
    return { text, values: parts }
  }
  const values: Value[] = []
  return { text: rendered({ texts, parts }, values), values }
}

const NOTHING = 'a statement was given undefined for a value'

function isValue(part: Part): part is Value {
  if (part === undefined) throw new TypeError(NOTHING)
  return !(part instanceof Statement || part instanceof Identifier)
}

function numbered(texts: readonly string[]): string {
  return texts.reduce((all, text, index) => `${all}$${index}${text}`)
}

function rendered({ texts, parts }: Template, values: Value[]): string {
  let text = texts[0] ?? ''
  parts.forEach((part, index) => {
    text += written(part, values) + (texts[index + 1] ?? '')
  })
  return text
}

function written(part: Part, values: Value[]): string {
  if (part === undefined) throw new TypeError(NOTHING)
  if (part instanceof Identifier) return part.text
  if (part instanceof Statement) return rendered(part.template, values)
  return `$${values.push(part)}`
}

/** `INSERT 0 3`, `SELECT 3`, `COMMIT`: the last word is how many, where it is a number. */
const TAG = /^(?<command>\D*?)(?: \d+)*?(?: (?<count>\d+))?$/u

export function answerOf(rows: Row[], tag: string): Answer<Row[]> {
  const { command = '', count } = TAG.exec(tag)?.groups ?? {}
  return Object.assign(rows, { command, count: count === undefined ? 0 : Number(count) })
}
