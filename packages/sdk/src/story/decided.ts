import type { Answers } from './answers.ts'
import type { ThreadFacts } from './facts.ts'
import { isOf, type CountedPackage } from './readable-package.ts'
import type { CurrentStory } from './story-versions.ts'
import { storyPoints } from './story-versions.ts'
import type { DecidedRule, StoryPoint } from './story-types.ts'

/** Decisions of the current story, recorded decisions, and refusals under a policy. Nothing else is a decision. */
export function decidedPoints(
  counted: readonly CountedPackage[],
  current: readonly CurrentStory[],
  { answers, facts }: { readonly answers: Answers; readonly facts: ThreadFacts },
): readonly StoryPoint<DecidedRule>[] {
  const recorded = counted
    .filter(isOf('audit_event'))
    .filter(({ object }) => object.event_type === 'decision_made')
    .map(({ object, source, quote }): StoryPoint<DecidedRule> => ({
      rule: 'decision_recorded',
      text: quote(object.decision ?? object.target.object_id),
      source,
      facts: [],
    }))
  const declined = answers.responses
    .filter(({ object }) => object.response_actions.includes('decline_with_policy'))
    .map((response): StoryPoint<DecidedRule> => ({
      rule: 'declined_by_policy',
      text: response.quote(response.object.response_summary),
      source: response.source,
      about: answers.about(response),
      facts: [],
    }))
  return [
    ...storyPoints('story_decision', 'decisions', current, { answers, facts }),
    ...recorded,
    ...declined,
  ]
}
