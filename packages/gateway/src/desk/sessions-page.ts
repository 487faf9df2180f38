import type { DeskAnswer, HostCall } from '@agent-exchange/desk'
import { form, html, relativeTime, shortIdentifier, table, visible } from '@agent-exchange/web'
import type { GatewaySessions } from '../people/desk-sessions.ts'
import { SESSION_TEXTS as T } from './desk-texts.ts'
import { askedPage, pagingOf } from './list-paging.ts'

export const SESSIONS_PATH = '/sessions'

/** Browsers in which somebody is signed in. */
export async function sessionsPage(
  sessions: Pick<GatewaySessions, 'list'>,
  call: HostCall,
): Promise<DeskAnswer> {
  const { now, csrfToken } = call
  const page = await sessions.list(askedPage(call))
  return {
    kind: 'page',
    title: T.sessions,
    section: SESSIONS_PATH,
    main: table({
      caption: T.sessions,
      hidesCaption: true,
      columns: T.columns.map((title) => ({ title })),
      rows: page.rows.map(({ sessionId, personName, signedInBy, createdAt, lastSeenAt }) => [
        html`<bdi>${visible(personName)}</bdi><br /><span class="below">${shortIdentifier(sessionId)}</span>`,
        relativeTime(new Date(createdAt), now),
        T.by[signedInBy],
        relativeTime(new Date(lastSeenAt), now),
        form({
          id: `end-${sessionId}`,
          action: `${SESSIONS_PATH}/${sessionId}/end`,
          csrfToken,
          fields: [],
          submit: { label: T.end, tone: 'plain' },
        }),
      ]),
      empty: { title: T.none, text: T.noneText },
      paging: pagingOf(SESSIONS_PATH, call, page),
    }),
  }
}
