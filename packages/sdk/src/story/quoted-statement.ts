import type { StoryFact } from './story-types.ts'

/** Shorter texts are found in another one by accident. */
const MINIMUM_QUOTED_WORDS = 4
/** Facts in which texts are looked for, texts that are looked for, and how much of each. Ids are always compared. */
const MAXIMUM_SEARCHED_FACTS = 50
const MAXIMUM_SEARCHES = 20
const MAXIMUM_COMPARED = 1_000

/** Facts that texts are compared with. */
export interface StatementIndex {
  readonly byId: ReadonlyMap<string, readonly StoryFact[]>
  readonly stated: readonly { readonly fact: StoryFact; readonly words: string }[]
}

export function indexStatements(facts: readonly StoryFact[]): StatementIndex {
  const searched = facts.slice(0, MAXIMUM_SEARCHED_FACTS)
  return {
    byId: Map.groupBy(facts, ({ factId }) => factId),
    stated: searched.map((fact) => ({ fact, words: wordsOf(fact.statement.text) })),
  }
}

/** Finds the facts that texts of one package name by id, or quote word for word, in whole or in part. */
export function factFinder({ byId, stated }: StatementIndex): (text: string) => readonly StoryFact[] {
  let searches = 0
  return (text) => {
    const named = byId.get(text)
    if (named) return named
    searches += 1
    if (searches > MAXIMUM_SEARCHES) return []
    const point = wordsOf(text)
    return stated.filter(({ words }) => isQuoted(words, point)).map(({ fact }) => fact)
  }
}

function isQuoted(left: string, right: string): boolean {
  if (left === right) return true
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left]
  // Most texts do not occur in each other at all, so that comes first.
  return (
    longer.includes(shorter) &&
    ` ${longer} `.includes(` ${shorter} `) &&
    shorter.split(' ').length >= MINIMUM_QUOTED_WORDS
  )
}

/** Letters and digits in lower case, one blank between words. */
function wordsOf(text: string): string {
  return text
    .slice(0, MAXIMUM_COMPARED)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}%]+/gu, ' ')
    .trim()
}
