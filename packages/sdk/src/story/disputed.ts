import type { Answers, Response } from './answers.ts'
import type { ThreadFacts } from './facts.ts'
import { valueText } from './open-members.ts'
import type { DisputedRule, StoryFact, StoryPoint } from './story-types.ts'

/** Challenges of responses, and facts that two companies state differently under one id. */
export function disputedPoints(answers: Answers, facts: ThreadFacts): readonly StoryPoint<DisputedRule>[] {
  return [
    ...answers.responses.flatMap((response) => challengesOf(response, answers, facts)),
    ...contradictions(facts),
  ]
}

function challengesOf(response: Response, answers: Answers, facts: ThreadFacts): StoryPoint<DisputedRule>[] {
  const { object, source, quote } = response
  const { agrees_with_sender_summary: agreesWithSummary, challenged_points: points = [] } =
    object.agreement ?? {}
  const laterAgreement = answers.laterAgreement(response)
  const about = answers.about(response)
  const shared = { source, about, ...(laterAgreement && { laterAgreement }) }
  const challenged = points.map((point): StoryPoint<DisputedRule> => {
    const named = facts.challengedBy(response, point)
    return { rule: 'point_challenged', text: quote(point), facts: named, ...shared }
  })
  const isBare = object.response_actions.includes('challenge') && points.length === 0
  return [
    ...challenged,
    ...(isBare && agreesWithSummary !== false
      ? [
          {
            rule: 'challenge_without_points' as const,
            text: quote(object.response_summary),
            facts: [],
            ...shared,
          },
        ]
      : []),
    ...(agreesWithSummary === false
      ? [
          {
            rule: 'summary_not_agreed' as const,
            text: about.lead ?? quote(object.response_summary),
            facts: [],
            ...shared,
          },
        ]
      : []),
  ]
}

/** One id, two companies, two statements or values. The same company may restate its own fact. */
function contradictions({ all }: ThreadFacts): StoryPoint<DisputedRule>[] {
  return [...Map.groupBy(all, ({ factId }) => factId).values()].flatMap((same) => {
    // The newest statement of each company counts.
    const newest = new Map(same.map((fact) => [fact.source.by.organizationId, fact]))
    const stated = new Set([...newest.values()].map(contentOf))
    const last = [...newest.values()].at(-1)
    if (stated.size < 2 || !last) return []
    return [
      { rule: 'fact_contradicted', text: last.statement, source: last.source, facts: [...newest.values()] },
    ]
  })
}

function contentOf({ statement, value }: StoryFact): string {
  return JSON.stringify([statement.text.trim(), value === undefined ? '' : valueText(value)])
}
