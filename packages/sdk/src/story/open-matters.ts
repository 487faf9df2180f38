import type { LoopThread, ReasoningPackage } from '@agent-exchange/protocol'
import type { Answers, Response } from './answers.ts'
import { deadlineAt } from './deadline.ts'
import type { ThreadFacts } from './facts.ts'
import { textMember, valueText } from './open-members.ts'
import type { CountedPackage } from './readable-package.ts'
import type { CurrentStory } from './story-versions.ts'
import { storyPoints } from './story-versions.ts'
import type { OpenRule, StoryPoint } from './story-types.ts'

interface OpenSources {
  readonly answers: Answers
  readonly facts: ThreadFacts
  readonly current: readonly CurrentStory[]
  /** The newest of each company. */
  readonly reasoning: readonly CountedPackage<ReasoningPackage>[]
  readonly threads: readonly CountedPackage<LoopThread>[]
  readonly now: Date
}

/** Questions and requests. A request of a response is open until another company answers that response. */
export function openPoints(sources: OpenSources): readonly StoryPoint<OpenRule>[] {
  const { answers, facts, current, reasoning, threads, now } = sources
  return [
    ...answers.responses
      .filter(({ record }) => !answers.isAnswered(record.packageId, record.sentTo.organizationId))
      .flatMap((response) => requestsOf(response, answers, now)),
    ...storyPoints('story_open_question', 'open_questions', current, { answers, facts }),
    ...threads.flatMap(({ object, source, quote }) => [
      ...listed('thread_open_question', object.open_questions, { source, quote }),
      ...listed('thread_decision_requested', object.decisions_requested, { source, quote }),
    ]),
    ...reasoning.flatMap(({ object, source, quote }) =>
      listed('known_unknown', object.reasoning.known_unknowns, { source, quote }),
    ),
  ]
}

function requestsOf(response: Response, answers: Answers, now: Date): StoryPoint<OpenRule>[] {
  const { object, source, quote } = response
  const shared = { source, about: answers.about(response), facts: [] }
  const summary = quote(object.response_summary)
  const request = object.recipient_request
  const deadline = deadlineAt(textMember(request, 'deadline'), now)
  const asks = (action: (typeof object.response_actions)[number]) => object.response_actions.includes(action)
  return [
    ...(asks('request_clarification')
      ? [{ rule: 'clarification_requested' as const, text: summary, ...shared }]
      : []),
    ...(asks('request_human_decision')
      ? [{ rule: 'human_decision_requested' as const, text: summary, ...shared }]
      : []),
    ...(request
      ? [
          {
            rule: 'request_made' as const,
            text: quote(textMember(request, 'summary') ?? valueText(request)),
            ...(deadline && { deadline }),
            ...shared,
          },
        ]
      : []),
  ]
}

function listed(
  rule: OpenRule,
  items: readonly unknown[] | undefined,
  { source, quote }: Pick<CountedPackage, 'source' | 'quote'>,
): StoryPoint<OpenRule>[] {
  return (items ?? []).map((item) => ({ rule, text: quote(valueText(item)), source, facts: [] }))
}
