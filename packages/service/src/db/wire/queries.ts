import { Identifier, Statement, type Part, type Row, type Send, type Value } from './statement.ts'

/** Statements as they are written in the code: values stand in the text, and travel apart from it. */
export interface Queries {
  <Rows extends readonly object[] = Row[]>(
    texts: TemplateStringsArray,
    ...parts: readonly Part[]
  ): Statement<Rows>
  /** A name in the text of a statement. */
  (name: string): Identifier
  /** Text that nobody outside has a part in. Without values it may be several statements. */
  unsafe<Rows extends readonly object[] = Row[]>(text: string, values?: readonly Value[]): Statement<Rows>
}

export function queriesOver(send: Send, onFailure?: (error: unknown) => void): Queries {
  function query(first: TemplateStringsArray | string, ...parts: readonly Part[]) {
    if (typeof first === 'string') return new Identifier(first)
    return new Statement({ texts: first, parts }, send, onFailure)
  }
  const unsafe = (text: string, values?: readonly Value[]) => new Statement({ text, values }, send, onFailure)
  return Object.assign(query, { unsafe }) as Queries
}
