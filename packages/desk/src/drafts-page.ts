import type { SentDraft } from '@agent-exchange/sdk'
import {
  html,
  identifier,
  liveRegion,
  notice,
  pagingNavigation,
  shortIdentifier,
  table,
  type Html,
  type Part,
} from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { streamAddress } from './desk-changes.ts'
import { SHOWN_DRAFTS, SHOWN_SENT_DRAFTS } from './desk-limits.ts'
import { hasOneOf } from './desk-person.ts'
import { DRAFT_TEXTS as T } from './texts/draft-texts.ts'
import { PLACE_TEXTS } from './texts/page-texts.ts'
import { discardForm } from './draft-forms.ts'
import { draftTable } from './draft-table.ts'
import { textOf } from './object-view.ts'
import { ago, second } from './shown-times.ts'

/** Open drafts, damaged files, and the last sent ones with who approved them. */
export async function draftsPage(call: DeskCall): Promise<DeskAnswer> {
  const { agent, now, query, person } = call
  const stream = await streamAddress(agent)
  const [open, damaged, sent] = await Promise.all([
    agent.drafts.list(),
    agent.drafts.damaged(),
    agent.drafts.sent(SHOWN_SENT_DRAFTS),
  ])
  const page = pageOf(query, open.length)
  const next = (page + 1) * SHOWN_DRAFTS
  return {
    kind: 'page',
    title: T.drafts,
    section: 'drafts',
    main: liveRegion({
      id: 'drafts',
      stream,
      content: html`${damaged.slice(0, SHOWN_DRAFTS).map(
          (draftId) =>
            html`${notice({
              tone: 'bad',
              title: T.damaged,
              text: html`${identifier(draftId)} ${T.damagedText}`,
            })}
            ${hasOneOf(person, ['planner']) && discardForm(call, draftId)}`,
        )}
        ${draftTable(T.openDrafts, open.slice(page * SHOWN_DRAFTS, next), now)}
        ${pagingNavigation(T.openDrafts, {
          ...(page > 0 && { first: '/drafts' }),
          ...(open.length > next && { next: `/drafts?page=${page + 1}` }),
        })}
        <h2>${T.sent}</h2>
        ${table({
          caption: T.sentDrafts,
          hidesCaption: true,
          columns: T.sentColumns.map((title) => ({ title })),
          rows: await Promise.all(sent.map((draft) => sentRow(call, draft))),
          empty: { title: T.nothingSent, text: PLACE_TEXTS[agent.place].reasons },
        })}`,
    }),
  }
}

function pageOf(query: URLSearchParams, count: number): number {
  const page = Number(query.get('page') ?? 0)
  return Number.isInteger(page) && page > 0 && page * SHOWN_DRAFTS < count ? page : 0
}

async function sentRow({ agent, now }: DeskCall, sent: SentDraft): Promise<readonly Part[]> {
  const { draftId, packageId, threadId, sentAt, decision } = sent
  const approved = ((await agent.passkeys?.recorded(draftId)) ?? []).filter(
    (each) => each.decision === 'approved',
  )
  const people: readonly Html[] = [
    ...(decision ? [textOf(decision.name)] : []),
    ...approved.map(({ person, at }) => html`${textOf(person)} <span class="quiet">${second(at)}</span>`),
  ]
  const reasons = [...(decision ? [decision.reason] : []), ...approved.map(({ reason }) => reason)]
  return [
    html`<a href="${pathTo('drafts', draftId)}">${ago(sentAt, now)}</a>`,
    people.length > 0 ? people.map((each) => html`${each}<br />`) : T.nobodyHadTo,
    reasons.filter((reason) => reason !== '').map((reason) => html`${textOf(reason)}<br />`),
    shortIdentifier(packageId, pathTo('threads', threadId)),
  ]
}
