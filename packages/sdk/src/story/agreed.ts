import type { Answers, Response } from './answers.ts'
import type { ThreadFacts } from './facts.ts'
import type { CurrentStory } from './story-versions.ts'
import { storyPoints } from './story-versions.ts'
import type { AgreedRule, StoryPoint } from './story-types.ts'

/** Only what a field says is agreed: an `agree`, agreement with a summary, or the agreed facts of the current story. */
export function agreedPoints(
  answers: Answers,
  facts: ThreadFacts,
  current: readonly CurrentStory[],
): readonly StoryPoint<AgreedRule>[] {
  return [
    ...answers.responses.flatMap((response) => agreementOf(response, answers, facts)),
    ...storyPoints('story_agreed_fact', 'agreed_facts', current, { answers, facts }),
  ]
}

function agreementOf(response: Response, answers: Answers, facts: ThreadFacts): StoryPoint<AgreedRule>[] {
  const { object, source, quote } = response
  const { agrees_with_sender_summary: agreesWithSummary, challenged_points: points = [] } =
    object.agreement ?? {}
  const isAgreement = object.response_actions.includes('agree')
  if (!isAgreement && agreesWithSummary !== true) return []
  const about = answers.about(response)
  const challenged = new Set(points.flatMap((point) => facts.challengedBy(response, point)))
  const behind = facts.of(about.packageId)
  const shared = {
    source,
    about,
    facts: challenged.size === 0 ? behind : behind.filter((fact) => !challenged.has(fact)),
    ...(points.length > 0 && { exceptions: points.map(quote) }),
  }
  if (isAgreement) return [{ rule: 'response_agrees', text: quote(object.response_summary), ...shared }]
  // The text of the summary is the other company's; what is quoted here is the answer.
  return [{ rule: 'summary_agreed', text: about.lead ?? quote(object.response_summary), ...shared }]
}
