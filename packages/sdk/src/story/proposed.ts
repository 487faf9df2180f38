import type { ReasoningPackage } from '@agent-exchange/protocol'
import type { Answers } from './answers.ts'
import type { ThreadFacts } from './facts.ts'
import { textMember, valueText } from './open-members.ts'
import type { CountedPackage } from './readable-package.ts'
import type { ProposedRule, StoryPoint } from './story-types.ts'

/** Options, proposed actions, and what the newest reasoning of each company says that it will do. */
export function proposedPoints(
  answers: Answers,
  facts: ThreadFacts,
  newest: readonly CountedPackage<ReasoningPackage>[],
): readonly StoryPoint<ProposedRule>[] {
  const intended = newest.map(({ object, source, quote, record }): StoryPoint<ProposedRule> => ({
    rule: 'sender_intends',
    text: quote(object.intent.sender_action),
    source,
    facts: facts.of(record.packageId),
  }))
  const answered = answers.responses.flatMap((response) => {
    const { object, source, quote, record } = response
    const shared = { source, about: answers.about(response), facts: facts.of(record.packageId) }
    const options = (object.options ?? []).map((option): StoryPoint<ProposedRule> => ({
      rule: 'option_provided',
      text: quote(textMember(option, 'summary') ?? valueText(option)),
      ...shared,
    }))
    return object.response_actions.includes('propose_action')
      ? [...options, { rule: 'action_proposed' as const, text: quote(object.response_summary), ...shared }]
      : options
  })
  return [...intended, ...answered]
}
