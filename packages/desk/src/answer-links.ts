import type { ThreadStory } from '@agent-exchange/sdk'
import { buttonLink, html, type Html } from '@agent-exchange/web'
import { ANSWER_TASKS, type AnswerTaskId } from './answer-tasks.ts'
import { pathTo } from './desk-call.ts'
import { TASK_TEXTS } from './texts/answer-texts.ts'
import type { StoryParts } from './story-parts.ts'

/** Where the page of a story begins with the answers. */
export const ANSWER_ID = 'answer'
/** Packages whose answers are offered. */
const MAXIMUM_ANSWERED = 5

/** The ways to answer the newest package that can be answered, and those that wait for an answer. */
export function answerSection({ conversation, due }: ThreadStory, parts: StoryParts): Html | undefined {
  const answerable = conversation.filter(({ packageId }) => parts.isAnswerable(packageId))
  const owed = new Set(due.map(({ packageId }) => packageId))
  const offered = answerable
    .filter(({ packageId }, index) => index === 0 || owed.has(packageId))
    .slice(0, MAXIMUM_ANSWERED)
  if (offered.length === 0) return undefined
  return html`<section class="story-part act" id="${ANSWER_ID}">
    <h2>${TASK_TEXTS.heading}</h2>
    ${offered.map(
      ({ packageId, lead }) =>
        html`<p class="said">${TASK_TEXTS.answers} ${parts.number(packageId)} ${lead && parts.quote(lead)}</p>
          ${taskLinks(packageId)}`,
    )}
  </section>`
}

function taskLinks(packageId: string): Html {
  return html`<p class="actions">
    ${ANSWER_TASKS.map((task) =>
      buttonLink(
        addressOf(packageId, task),
        TASK_TEXTS.tasks[task].title,
        task === 'accept' ? 'primary' : 'plain',
      ),
    )}
  </p>`
}

export function challengeLink(packageId: string, factId: string): Html {
  return html`<a href="${addressOf(packageId, 'challenge', { fact: factId })}"
    >${TASK_TEXTS.challengeThis}</a
  >`
}

export function acceptLink(packageId: string, option: string): Html {
  return html`<a href="${addressOf(packageId, 'accept', { option })}">${TASK_TEXTS.acceptThis}</a>`
}

function addressOf(packageId: string, task: AnswerTaskId, given: Record<string, string> = {}): string {
  const query = String(new URLSearchParams(given))
  return `${pathTo('packages', packageId, `/answer/${task}`)}${query && `?${query}`}#answer-part`
}
