import type { NetworkStory } from '@agent-exchange/protocol'
import type { Answers } from './answers.ts'
import type { ThreadFacts } from './facts.ts'
import { factFinder, indexStatements } from './quoted-statement.ts'
import { isOf, type CountedPackage } from './readable-package.ts'
import type { Quote, StoryPoint, StoryRule, StoryVersion, VersionChange } from './story-types.ts'

export type CurrentStory = CountedPackage<NetworkStory>

const PARTS = ['agreed_facts', 'open_questions', 'decisions', 'boundaries'] as const

/** The stories of a thread are one sequence, by version and then by time: the specification names one story of a thread. */
export function storyVersions(counted: readonly CountedPackage[]): {
  /** Oldest version first. */
  readonly versions: readonly StoryVersion[]
  readonly current: readonly CurrentStory[]
} {
  const ordered = counted
    .filter(isOf('network_story'))
    .toSorted((left, right) => left.object.story_version - right.object.story_version)
  const current = currentOf(ordered)
  const versions = ordered.map((each, index): StoryVersion => {
    const { object, quote, source } = each
    return {
      storyId: object.id,
      version: object.story_version,
      status: object.status,
      summary: quote(object.summary),
      source,
      isCurrent: current.includes(each),
      changes: changesBetween(ordered[index - 1], each),
    }
  })
  return { versions, current }
}

/** Of the highest active or closed version, the newest statement of each company. A draft or superseded story never counts. */
function currentOf(ordered: readonly CurrentStory[]): readonly CurrentStory[] {
  const valid = ordered.filter(({ object }) => object.status === 'active' || object.status === 'closed')
  const highest = valid.at(-1)?.object.story_version
  const newest = valid.filter(({ object }) => object.story_version === highest)
  return [...new Map(newest.map((each) => [each.source.by.organizationId, each])).values()]
}

function changesBetween(before: CurrentStory | undefined, after: CurrentStory): readonly VersionChange[] {
  if (!before) return []
  return PARTS.flatMap((part) => {
    const [old, fresh] = [new Set(before.object[part]), new Set(after.object[part])]
    const change = (kind: VersionChange['kind'], text: Quote): VersionChange => ({ part, kind, text })
    return [
      ...[...fresh].filter((text) => !old.has(text)).map((text) => change('added', after.quote(text))),
      ...[...old].filter((text) => !fresh.has(text)).map((text) => change('removed', before.quote(text))),
    ]
  })
}

/** Statements of the current story as points, with the facts of its basis that they quote. */
export function storyPoints<Rule extends StoryRule>(
  rule: Rule,
  part: (typeof PARTS)[number],
  current: readonly CurrentStory[],
  { answers, facts }: { readonly answers: Answers; readonly facts: ThreadFacts },
): StoryPoint<Rule>[] {
  return current.flatMap(({ object, source, quote, record }) => {
    const basis = object.basis_refs.flatMap(({ object_id }) => facts.of(answers.packageOf(object_id)))
    const find = factFinder(indexStatements(basis))
    const author = source.by.organizationId
    const confirmedBy = answers.agreeing(record.packageId).filter((id) => id !== author)
    return object[part].map((text) => ({
      rule,
      text: quote(text),
      source,
      facts: find(text),
      confirmedBy,
    }))
  })
}
