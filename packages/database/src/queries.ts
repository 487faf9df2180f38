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

/** A statement as it is sent to PostgreSQL. */
export interface Statement {
  readonly text: string
  /** Undefined: the text may hold several statements, and is sent by the simple query protocol. */
  readonly values: readonly Value[] | undefined
  /** The CopyData messages of a COPY. */
  readonly copyData?: readonly Uint8Array[]
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
  /** Planned with {@link INDEX_SETTINGS}. For statements that have an index for every table and one plan for all values. */
  readonly byIndex: Tag
  /** Never with text from outside. Without values, the text may hold several statements. */
  unsafe<Rows extends readonly object[] = Row[]>(
    text: string,
    values?: readonly Value[],
  ): Promise<Answer<Rows>>
}

/**
 * PostgreSQL caches the plan of a prepared statement. A plan that was made while a table was small scans the whole
 * table, and is kept while the table grows, until it is analyzed.
 */
export const INDEX_SETTINGS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
}

/** The calls that apply settings to the session, or to the current transaction. */
export function settingCalls(settings: Readonly<Record<string, string>>, isLocal: boolean): string {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', '${value}', ${isLocal})`,
  )
  return calls.join(', ')
}

/** Applies settings to the current transaction. */
export function settingStatement(settings: Readonly<Record<string, string>>): Statement {
  return { text: `select ${settingCalls(settings, true)}`, values: [] }
}

export function queriesOver(send: Send, sendByIndex = send): Queries {
  const tag =
    (sendIt: Send) =>
    (texts: TemplateStringsArray, ...parts: readonly Part[]) =>
      sendIt(() => render(texts, parts))
  const unsafe = (text: string, values?: readonly Value[]) => send(() => checked({ text, values }))
  return Object.assign(tag(send), { byIndex: tag(sendByIndex), unsafe }) as Queries
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
