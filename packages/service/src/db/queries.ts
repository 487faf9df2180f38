import pg from 'pg'

/** A parameter. PostgreSQL derives its type from the place where it is used. */
export type Value = string | number | boolean | null | Uint8Array | readonly (string | null)[]

/** Part of a statement's text, with its own parameters. It is sent with the statement that contains it. */
export class Fragment {
  readonly texts: readonly string[]
  readonly parts: readonly Part[]

  constructor(texts: readonly string[], parts: readonly Part[]) {
    this.texts = texts
    this.parts = parts
  }
}

type Part = Value | Fragment

export function fragment(texts: TemplateStringsArray, ...parts: readonly Part[]): Fragment {
  return new Fragment(texts, parts)
}

export function identifier(name: string): Fragment {
  return new Fragment([pg.escapeIdentifier(name)], [])
}

/** What is sent to PostgreSQL. */
export interface Statement {
  readonly text: string
  /** Undefined: the text may hold several statements, and is sent by the simple query protocol. */
  readonly values: readonly Value[] | undefined
  /** The CopyData messages of a COPY. */
  readonly copyData?: readonly Uint8Array[]
  readonly isByIndex?: boolean
}

export type Row = Record<string, unknown>

/** The rows, with the number of rows affected and the name of the command. */
export type Answer<Rows extends readonly object[] = Row[]> = Rows & {
  readonly count: number
  readonly command: string
}

/** Writes the statement and sends it, at once. A statement that cannot be written fails the promise. */
export type Send = (write: () => Statement) => Promise<Answer>

type Tag = <Rows extends readonly object[] = Row[]>(
  texts: TemplateStringsArray,
  ...parts: readonly Part[]
) => Promise<Answer<Rows>>

/** Each call sends its statement, in the order of the calls. */
export interface Queries extends Tag {
  /** For statements that must not be planned for small tables; see index-plans.ts. */
  readonly byIndex: Tag
  /** Never with text from outside. Without values, the text may hold several statements. */
  unsafe<Rows extends readonly object[] = Row[]>(
    text: string,
    values?: readonly Value[],
  ): Promise<Answer<Rows>>
}

export function queriesOver(send: Send): Queries {
  const query = (texts: TemplateStringsArray, ...parts: readonly Part[]) => send(() => render(texts, parts))
  const byIndex = (texts: TemplateStringsArray, ...parts: readonly Part[]) =>
    send(() => ({ ...render(texts, parts), isByIndex: true }))
  const unsafe = (text: string, values?: readonly Value[]) => send(() => checked({ text, values }))
  return Object.assign(query, { byIndex, unsafe }) as Queries
}

/** The number of parameters is 16 bits of the bind message. */
const MAXIMUM_VALUES = 65_535

function checked(statement: Statement): Statement {
  if (statement.text.includes('\0')) throw new TypeError('the text of a statement must not contain NUL')
  if (statement.values?.includes(undefined as never)) throw new TypeError('a parameter is undefined')
  if ((statement.values?.length ?? 0) > MAXIMUM_VALUES) throw new RangeError('too many parameters')
  return statement
}

/** A template without fragments always has the same text. */
const textOf = new WeakMap<readonly string[], string>()

function render(texts: readonly string[], parts: readonly Part[]): Statement {
  if (parts.some((part) => part instanceof Fragment)) {
    const values: Value[] = []
    return checked({ text: write({ texts, parts }, values), values })
  }
  let text = textOf.get(texts)
  if (text === undefined) textOf.set(texts, (text = write({ texts, parts }, [])))
  return checked({ text, values: parts as readonly Value[] })
}

/** Appends the parameters to `values` and refers to them by number. */
function write({ texts, parts }: Fragment, values: Value[]): string {
  return texts.reduce((all, text, index) => {
    const part = parts[index - 1] as Part
    return all + (part instanceof Fragment ? write(part, values) : `$${values.push(part)}`) + text
  })
}
