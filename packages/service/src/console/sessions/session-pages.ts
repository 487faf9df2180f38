import {
  buttonLink,
  definitionList,
  form,
  html,
  identifier,
  table,
  type Html,
  type Part,
  type FormState,
} from '@agent-exchange/web'
import { readSession, readSessions, revokeSession } from '../../operator/routes/sessions.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

export const sessionsPages: readonly ConsolePage[] = [
  get('/sessions', list, 'administrator'),
  get('/sessions/:session_id', showSession, 'administrator'),
  post('/sessions/:session_id/revoke', revoke, 'administrator'),
]

const WAYS = { oidc: 'identity provider', token: 'operator token' }

async function list({ api, query, show, now }: ConsoleCall) {
  const after = query.get('after')
  const sessions = await api(readSessions, { input: { after } })
  const main = html`<p class="lead">
      Browsers that are signed in to this console. A session ends after 30 minutes without a page, and after 8
      hours in any case.
    </p>
    ${table({
      caption: 'Sessions',
      hidesCaption: true,
      columns: ['Operator', 'Role', 'Signed in by', 'Signed in', 'Last page', 'End'].map((title) => ({
        title,
      })),
      rows: sessions.items.map((each): Part[] => [
        html`<bdi>${each.operator_name}</bdi>`,
        each.role,
        WAYS[each.signed_in_by],
        timeOf(each.created_at, now),
        timeOf(each.last_seen_at, now),
        html`<a href="/sessions/${each.session_id}" aria-label="End the session ${each.session_id}">End…</a>`,
      ]),
      empty: { title: 'No sessions', text: 'Nobody is signed in.' },
      paging: pagingLinks('/sessions', {}, { after, next: sessions.next_cursor }),
    })}`
  return show({ title: 'Sessions', main })
}

async function showSession({ api, params, show, now, formState }: ConsoleCall) {
  const session = await api(readSession, { params: { session_id: params['session_id'] ?? '' } })
  const main = html`${definitionList([
      ['Session', identifier(session.session_id)],
      ['Operator', html`<bdi>${session.operator_name}</bdi>`],
      ['Role', session.role],
      ['Signed in by', WAYS[session.signed_in_by]],
      ['Signed in', timeOf(session.created_at, now)],
      ['Last page', timeOf(session.last_seen_at, now)],
    ])}
    <h2>End this session</h2>
    <p>
      The browser must sign in again with its next page. To keep the person out, disable the operator or
      remove the person's group at the identity provider as well.
    </p>
    ${ending(session.session_id, formState)}`
  return show({ title: 'Session', main })
}

function ending(sessionId: string, formState: FormState): Html {
  return html`${form({
      id: 'end',
      action: `/sessions/${sessionId}/revoke`,
      ...formState,
      fields: [{ kind: 'text', name: 'reason', label: 'Reason', isRequired: true, maxLength: 1_000 }],
      submit: { label: 'End session', tone: 'danger' },
    })}
    <p>${buttonLink('/sessions', 'Back to the sessions')}</p>`
}

async function revoke({ api, params, form: fields, redirect }: ConsoleCall) {
  const answer = await api(revokeSession, {
    params: { session_id: params['session_id'] ?? '' },
    input: { reason: fields.get('reason') },
  })
  return redirect('/sessions', { tone: 'good', title: `The session of ${answer.operator_name} has ended.` })
}
