import type { DraftState, StoredDraft } from '@agent-exchange/sdk'
import { badge, html, table, type Html, type Tone } from '@agent-exchange/web'
import { pathTo } from './desk-call.ts'
import { leadOf, titleOf } from '@agent-exchange/sdk/internal'
import { textOf } from './object-view.ts'
import { ago } from './shown-times.ts'

const STATES: Readonly<Record<DraftState, readonly [tone: Tone, text: string]>> = {
  ready: ['info', 'ready to send'],
  waiting: ['warn', 'waits for approval'],
  approved: ['good', 'approved'],
  declined: ['bad', 'declined'],
  void: ['warn', 'approval no longer valid'],
}

export function stateBadge(state: DraftState): Html {
  return badge(...STATES[state])
}

export function draftTable(caption: string, drafts: readonly StoredDraft[], now: Date): Html {
  return table({
    caption,
    hidesCaption: true,
    columns: [{ title: 'Draft' }, { title: 'For' }, { title: 'Drafted' }, { title: 'State' }],
    rows: drafts.map(({ draftId, object, recipient, createdAt, state }) => [
      html`<a href="${pathTo('drafts', draftId)}">${titleOf(object)}</a><br />${textOf(leadOf(object))}`,
      html`<bdi>${recipient.agentId}</bdi> of <bdi>${recipient.organizationId}</bdi>`,
      ago(createdAt, now),
      stateBadge(state),
    ]),
    empty: { title: 'There are no drafts.', text: 'An agent, a model or an answer of yours makes one.' },
  })
}
