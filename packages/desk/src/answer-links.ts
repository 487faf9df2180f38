import type { ThreadStory } from '@agent-exchange/sdk'
import { buttonLink, html, type Html } from '@agent-exchange/web'
import { ANSWER_TASKS, type AnswerTaskId } from './answer-tasks.ts'
import { pathTo } from './desk-call.ts'
import { TASK_TEXTS } from './desk-texts.ts'
import type { StoryParts } from './story-parts.ts'

/** The ways to answer the newest package that can be answered. */
export function answerSection({ conversation }: ThreadStory, parts: StoryParts): Html | undefined {
  const newest = conversation.find(({ packageId }) => parts.isAnswerable(packageId))
  if (!newest) return undefined
  const { packageId, lead } = newest
  return html`<section class="story-part act">
    <h2>${TASK_TEXTS.heading}</h2>
    <p class="said">${TASK_TEXTS.answers} ${parts.number(packageId)} ${lead && parts.quote(lead)}</p>
    ${taskLinks(packageId)}
  </section>`
}

export function taskLinks(packageId: string): Html {
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
