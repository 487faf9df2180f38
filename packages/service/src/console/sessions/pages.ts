import { CSRF_FIELD, html, identifier, table, type Html } from '@agent-exchange/web'
import { readSessions, revokeSession } from '../../operator/routes/sessions.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

export const sessionsPages: readonly ConsolePage[] = [
  get('/sessions', list, 'administrator'),
  post('/sessions/:session_id/revoke', revoke, 'administrator'),
]

async function list({ api, query, show, now, csrfToken }: ConsoleCall) {
  const after = query.get('after')
  const sessions = await api(readSessions, { input: { after } })
  const main = html`<p class="lead">
      Browsers that are signed in to this console. A session ends after 30 minutes without a page, and after 8
      hours in any case.
    </p>
    ${table({
      caption: 'Sessions',
      hidesCaption: true,
      columns: [
        { title: 'Operator' },
        { title: 'Role' },
        { title: 'Signed in by' },
        { title: 'Signed in' },
        { title: 'Last page' },
        { title: 'Session' },
        { title: 'End' },
      ],
      rows: sessions.items.map((each) => [
        html`<bdi>${each.operator_name}</bdi>`,
        each.role,
        each.signed_in_by === 'oidc' ? 'identity provider' : 'operator token',
        timeOf(each.created_at, now),
        timeOf(each.last_seen_at, now),
        identifier(each.session_id),
        revocation(each.session_id, csrfToken),
      ]),
      empty: { title: 'No sessions', text: 'Nobody is signed in.' },
      paging: pagingLinks('/sessions', {}, { after, next: sessions.next_cursor }),
    })}`
  return show({ title: 'Sessions', main })
}

function revocation(sessionId: string, csrfToken: string): Html {
  return html`<form class="inline" method="post" action="/sessions/${sessionId}/revoke">
    <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />
    <input
      name="reason"
      required
      maxlength="1000"
      placeholder="Reason"
      aria-label="Reason for ending ${sessionId}"
    />
    <button type="submit" class="danger">End session</button>
  </form>`
}

async function revoke({ api, params, form, redirect }: ConsoleCall) {
  const answer = await api(revokeSession, {
    params: { session_id: params['session_id'] ?? '' },
    input: { reason: form.get('reason') },
  })
  return redirect('/sessions', { tone: 'good', title: `The session of ${answer.operator_name} has ended.` })
}
