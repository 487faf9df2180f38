import type { DraftState, StoredDraft } from '@agent-exchange/sdk'
import { badge, html, table, type Html, type Tone } from '@agent-exchange/web'
import { pathTo } from './desk-call.ts'
import { DRAFT_TEXTS as T } from './texts/draft-texts.ts'
import { TEXTS } from './texts/story-texts.ts'
import { leadOf, titleOf } from '@agent-exchange/sdk/internal'
import { textOf } from './object-view.ts'
import { ago } from './shown-times.ts'

const STATES: Readonly<Record<DraftState, readonly [tone: Tone, text: string]>> = {
  ready: ['info', T.states.ready],
  waiting: ['warn', T.states.waiting],
  approved: ['good', T.states.approved],
  declined: ['bad', T.states.declined],
  void: ['warn', T.states.void],
}

export function stateBadge(state: DraftState): Html {
  return badge(...STATES[state])
}

export function draftTable(caption: string, drafts: readonly StoredDraft[], now: Date): Html {
  return table({
    caption,
    hidesCaption: true,
    columns: T.columns.map((title) => ({ title })),
    rows: drafts.map(({ draftId, object, recipient, createdAt, state }) => [
      html`<a href="${pathTo('drafts', draftId)}">${titleOf(object)}</a><br />${textOf(leadOf(object))}`,
      html`<bdi>${recipient.agentId}</bdi> ${TEXTS.of} <bdi>${recipient.organizationId}</bdi>`,
      ago(createdAt, now),
      stateBadge(state),
    ]),
    empty: { title: T.none, text: T.noneText },
  })
}
