import { html, identifier, liveRegion, notice, shortIdentifier, table } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { streamAddress } from './desk-changes.ts'
import { SHOWN_SENT_DRAFTS } from './desk-limits.ts'
import { discardForm } from './draft-forms.ts'
import { draftTable } from './draft-table.ts'
import { textOf } from './object-view.ts'
import { ago } from './shown-times.ts'

/** Open drafts, damaged files, and the last sent ones with who approved them. */
export async function draftsPage(call: DeskCall): Promise<DeskAnswer> {
  const { agent, now } = call
  const stream = await streamAddress(agent)
  const [open, damaged, sent] = await Promise.all([
    agent.drafts.list(),
    agent.drafts.damaged(),
    agent.drafts.sent(SHOWN_SENT_DRAFTS),
  ])
  return {
    kind: 'page',
    title: 'Drafts',
    section: 'drafts',
    main: liveRegion({
      id: 'drafts',
      stream,
      content: html`${damaged.map(
          (draftId) =>
            html`${notice({
              tone: 'bad',
              title: 'A draft was changed after it was made, or its file is damaged.',
              text: html`${identifier(draftId)} can only be discarded. Find out who changed it.`,
            })}
            ${discardForm(call, draftId)}`,
        )}
        ${draftTable('Open drafts', open, now)}
        <h2>Sent</h2>
        ${table({
          caption: 'Sent drafts',
          hidesCaption: true,
          columns: [{ title: 'Sent' }, { title: 'Approved by' }, { title: 'Reason' }, { title: 'Package' }],
          rows: sent.map(({ packageId, threadId, sentAt, decision }) => [
            ago(sentAt, now),
            decision ? textOf(decision.name) : 'nobody had to',
            decision ? textOf(decision.reason) : '',
            shortIdentifier(packageId, pathTo('threads', threadId)),
          ]),
          empty: {
            title: 'Nothing was sent from a draft yet.',
            text: 'Names and reasons never leave this folder.',
          },
        })}`,
    }),
  }
}
