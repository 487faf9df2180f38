import type { Answers } from './answers.ts'
import { isRecord, textMember } from './open-members.ts'
import { factFinder, indexStatements, type StatementIndex } from './quoted-statement.ts'
import type { CountedPackage } from './readable-package.ts'
import type { Quote, Source, StoryFact } from './story-types.ts'

type Challenges = { readonly text: Quote; readonly source: Source }[]

/** The facts of a thread, and the challenges that name them. */
export interface ThreadFacts {
  /** Oldest first; a fact that a company repeats word for word is listed once. */
  readonly all: readonly StoryFact[]
  of(packageId: string): readonly StoryFact[]
  /** Facts that a challenged point of a response names. */
  challengedBy(response: CountedPackage, point: string): readonly StoryFact[]
}

export function collectFacts(counted: readonly CountedPackage[], answers: Answers): ThreadFacts {
  const challenges = new Map<StoryFact, Challenges>()
  const known = new Map<string, StoryFact>()
  const ofPackage = new Map<string, readonly StoryFact[]>()
  for (const each of counted) {
    const facts = itemsOf(each).flatMap((item) => {
      const made = factOf(item, each)
      if (!made) return []
      const { source, factId, statement, value } = made
      const key = JSON.stringify([source.by.organizationId, factId, statement.text, value])
      const fact = known.get(key) ?? made
      known.set(key, fact)
      challenges.set(fact, fact.challenges as Challenges)
      return [fact]
    })
    if (facts.length > 0) ofPackage.set(each.record.packageId, facts)
  }
  const all = [...known.values()]
  const byId = Map.groupBy(all, ({ factId }) => factId)
  const of = (packageId: string) => ofPackage.get(packageId) ?? []
  const order = new Map(counted.map(({ record }, index) => [record.packageId, index]))
  /** A response may name a fact of an earlier package of another company. */
  const statedBefore = ({ record, source: { by } }: CountedPackage, factId: string) =>
    (byId.get(factId) ?? []).filter(
      ({ source }) =>
        source.by.organizationId !== by.organizationId &&
        (order.get(source.packageId) ?? 0) < (order.get(record.packageId) ?? 0),
    )
  const indexes = new Map<string, StatementIndex>()
  const named = new Map<CountedPackage, Map<string, readonly StoryFact[]>>()
  for (const response of answers.responses) {
    const answered = answers.answeredBy(response)?.record.packageId ?? ''
    const index = indexes.get(answered) ?? indexStatements(of(answered))
    indexes.set(answered, index)
    const find = factFinder(index)
    const points = new Set(response.object.agreement?.challenged_points)
    const byPoint = new Map(
      [...points].map((point) => {
        const found = find(point)
        return [point, found.length > 0 ? found : statedBefore(response, point)]
      }),
    )
    named.set(response, byPoint)
    for (const [point, facts] of byPoint)
      for (const fact of facts)
        challenges.get(fact)?.push({ text: response.quote(point), source: response.source })
  }
  const challengedBy = (response: CountedPackage, point: string) => named.get(response)?.get(point) ?? []
  return { all, of, challengedBy }
}

function itemsOf({ object }: CountedPackage): readonly unknown[] {
  if (object.object_type === 'reasoning_package') return object.facts
  return object.object_type === 'response_object' ? (object.added_facts ?? []) : []
}

/** Added facts have no schema (O-34): one without id or statement is no fact. */
function factOf(item: unknown, { quote, source }: CountedPackage): StoryFact | undefined {
  const [factId, statement] = [textMember(item, 'fact_id'), textMember(item, 'statement')]
  if (!isRecord(item) || factId === undefined || statement === undefined) return undefined
  const sensitivity = textMember(item, 'sensitivity')
  const refs: readonly unknown[] = Array.isArray(item['evidence_refs']) ? item['evidence_refs'] : []
  return {
    factId,
    statement: quote(statement),
    ...(item['value'] !== undefined && { value: item['value'] }),
    evidenceRefs: refs.filter((ref) => typeof ref === 'string'),
    ...(sensitivity !== undefined && { sensitivity }),
    source,
    challenges: [],
  }
}
