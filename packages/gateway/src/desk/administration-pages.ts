import { DESK_ROLES, type DeskAnswer, type HostCall, type HostRoute } from '@agent-exchange/desk'
import type { Database } from '@agent-exchange/database'
import {
  badge,
  confirmation,
  form,
  html,
  identifier,
  notice,
  relativeTime,
  shortIdentifier,
  table,
  visible,
  type Html,
  type Paging,
} from '@agent-exchange/web'
import { listChanges } from '../people/administration-record.ts'
import type { GatewaySessions } from '../people/desk-sessions.ts'
import {
  addPerson,
  listPeople,
  PeopleFailure,
  removePerson,
  renewLink,
  type Invited,
} from '../people/people.ts'
import type { Person } from '../people/person-rows.ts'
import { ROWS_OF_PAGE } from './desk-limits.ts'
import { DESK_TEXTS } from './desk-texts.ts'

interface AdministrationParts {
  readonly db: Database
  readonly now: () => Date
  readonly sessions: GatewaySessions
  readonly publicUrl: string
}

const actorOf = ({ person }: HostCall) => ({ kind: 'person', id: person.id }) as const
const get = (path: string, navigation: string, handle: HostRoute['handle']): HostRoute => ({
  method: 'GET',
  path,
  roles: ['administrator'],
  navigation,
  handle,
})
const post = (path: string, handle: HostRoute['handle']): HostRoute => ({
  method: 'POST',
  path,
  roles: ['administrator'],
  handle,
})

/** What an administrator sees and changes. Every change is an entry of the record. */
export function administrationRoutes(parts: AdministrationParts): readonly HostRoute[] {
  const { db, now, sessions } = parts
  const show = (call: HostCall, state: PeopleState = {}) => peoplePage(parts, call, state)
  /** What is refused is said on the page of the people. */
  async function refusing(call: HostCall, work: () => Promise<DeskAnswer>): Promise<DeskAnswer> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof PeopleFailure) return show(call, { problem: error.message })
      throw error
    }
  }
  const invite = (work: (call: HostCall) => Promise<Invited>) => (call: HostCall) =>
    refusing(call, async () => show(call, { invited: await work(call) }))

  return [
    get('/people', DESK_TEXTS.people, (call) => show(call)),
    post(
      '/people',
      invite((call) => {
        const { fields } = call
        const email = fields.get('email')?.trim() ?? ''
        const roles = DESK_ROLES.filter((role) => fields.get(role) === 'on')
        const name = fields.get('name') ?? ''
        return addPerson(db, now(), { name, roles, ...(email !== '' && { email }) }, actorOf(call))
      }),
    ),
    post(
      '/people/:id/link',
      invite((call) => renewLink(db, now(), call.id, actorOf(call))),
    ),
    post('/people/:id/remove', (call) =>
      refusing(call, async () => {
        const wasThere = await removePerson(db, now(), call.id, actorOf(call))
        return wasThere ? { kind: 'redirect', to: '/people', done: 'person_removed' } : nobodyHere()
      }),
    ),
    get('/sessions', DESK_TEXTS.sessions, (call) => sessionPage(parts, call)),
    post('/sessions/:id/end', async (call) => {
      await sessions.end(call.id, actorOf(call))
      return { kind: 'redirect', to: '/sessions', done: 'session_ended' }
    }),
    get('/record', DESK_TEXTS.record, (call) => recordPage(parts, call)),
  ]
}

/** The rows that the address asks for; the first ones if it asks for none that exist. */
function pageOf<Row>(
  all: readonly Row[],
  path: string,
  { query }: HostCall,
): { readonly rows: readonly Row[]; readonly paging: Paging } {
  const asked = Number(query.get('page') ?? 0)
  const page = Number.isSafeInteger(asked) && asked > 0 && asked * ROWS_OF_PAGE < all.length ? asked : 0
  const end = (page + 1) * ROWS_OF_PAGE
  const paging = {
    ...(page > 0 && { first: path }),
    ...(end < all.length && { next: `${path}?page=${page + 1}` }),
  }
  return { rows: all.slice(page * ROWS_OF_PAGE, end), paging }
}

const nobodyHere = (): DeskAnswer => ({
  kind: 'page',
  status: 404,
  title: DESK_TEXTS.noPerson,
  section: '/people',
  main: html`<p><a href="/people">${DESK_TEXTS.people}</a></p>`,
})

interface PeopleState {
  readonly invited?: Invited
  readonly problem?: string
}

async function peoplePage(
  { db, publicUrl }: AdministrationParts,
  call: HostCall,
  { invited, problem }: PeopleState,
): Promise<DeskAnswer> {
  const { rows: people, paging } = pageOf(await listPeople(db), '/people', call)
  return {
    kind: 'page',
    title: DESK_TEXTS.people,
    section: '/people',
    ...(problem !== undefined && { status: 422 }),
    main: html`${problem !== undefined && notice({ tone: 'bad', title: problem })}
      ${
        invited &&
        notice({
          tone: 'good',
          title: DESK_TEXTS.linkOnce,
          text: html`<code>${publicUrl}/enter?link=${invited.link}</code>`,
        })
      }
      ${table({
        caption: DESK_TEXTS.people,
        hidesCaption: true,
        columns: [
          { title: 'Person' },
          { title: 'Roles' },
          { title: 'By' },
          { title: 'Since' },
          { title: 'Change' },
        ],
        rows: people.map((person) => [
          html`<bdi>${visible(person.name)}</bdi><br />
            <span class="below">${visible(person.email ?? '')} ${shortIdentifier(person.id)}</span>`,
          person.roles.map((role) => html`${badge('neutral', role)} `),
          person.isOfProvider ? DESK_TEXTS.ofProvider : DESK_TEXTS.byInvitation,
          relativeTime(new Date(person.addedAt), call.now),
          personActions(person, call),
        ]),
        empty: { title: DESK_TEXTS.nobody, text: DESK_TEXTS.nobodyText },
        paging,
      })}
      <h2>${DESK_TEXTS.addPerson}</h2>
      ${form({
        id: 'invite',
        action: '/people',
        csrfToken: call.csrfToken,
        fields: [
          { kind: 'text', name: 'name', label: DESK_TEXTS.name, isRequired: true, maxLength: 200 },
          { kind: 'email', name: 'email', label: DESK_TEXTS.email, maxLength: 200 },
          ...DESK_ROLES.map((role) => ({
            kind: 'checkbox' as const,
            name: role,
            label: `${role}: ${DESK_TEXTS.rolesExplained[role]}`,
          })),
        ],
        submit: { label: DESK_TEXTS.invite },
      })}`,
  }
}

function personActions({ id, isOfProvider }: Person, { csrfToken, person }: HostCall): Html {
  return html`${
    !isOfProvider &&
    form({
      id: `link-${id}`,
      action: `/people/${id}/link`,
      csrfToken,
      fields: [],
      submit: { label: DESK_TEXTS.newLink, tone: 'plain' },
    })
  }
  ${
    id !== person.id &&
    confirmation({
      summary: `${DESK_TEXTS.remove}…`,
      explanation: DESK_TEXTS.removeExplained,
      form: {
        id: `remove-${id}`,
        action: `/people/${id}/remove`,
        csrfToken,
        fields: [],
        submit: { label: DESK_TEXTS.remove },
      },
    })
  }`
}

async function sessionPage({ sessions }: AdministrationParts, call: HostCall): Promise<DeskAnswer> {
  const { now, csrfToken } = call
  const { rows: living, paging } = pageOf(await sessions.list(), '/sessions', call)
  return {
    kind: 'page',
    title: DESK_TEXTS.sessions,
    section: '/sessions',
    main: table({
      caption: DESK_TEXTS.sessions,
      hidesCaption: true,
      columns: [
        { title: 'Person' },
        { title: 'Signed in' },
        { title: 'By' },
        { title: 'Last page' },
        { title: 'Change' },
      ],
      rows: living.map(({ sessionId, personName, signedInBy, createdAt, lastSeenAt }) => [
        html`<bdi>${visible(personName)}</bdi><br /><span class="below">${shortIdentifier(sessionId)}</span>`,
        relativeTime(new Date(createdAt), now),
        signedInBy,
        relativeTime(new Date(lastSeenAt), now),
        form({
          id: `end-${sessionId}`,
          action: `/sessions/${sessionId}/end`,
          csrfToken,
          fields: [],
          submit: { label: DESK_TEXTS.endSession, tone: 'plain' },
        }),
      ]),
      empty: { title: DESK_TEXTS.noSession, text: DESK_TEXTS.noSessionText },
      paging,
    }),
  }
}

async function recordPage({ db }: AdministrationParts, call: HostCall): Promise<DeskAnswer> {
  const { now } = call
  const [changes, people] = await Promise.all([listChanges(db), listPeople(db)])
  const { rows: entries, paging } = pageOf(changes, '/record', call)
  const names = new Map(people.map(({ id, name }) => [id, name]))
  return {
    kind: 'page',
    title: DESK_TEXTS.record,
    section: '/record',
    main: table({
      caption: DESK_TEXTS.record,
      hidesCaption: true,
      columns: [{ title: 'When' }, { title: 'Who' }, { title: 'What' }, { title: 'Details' }],
      rows: entries.map(({ at, actor, action, target, details }) => [
        relativeTime(new Date(at), now),
        html`<bdi>${visible(names.get(actor.id) ?? `${actor.kind} ${actor.id}`)}</bdi>`,
        html`${action.replaceAll('.', ' ')} ${identifier(target)}`,
        html`<bdi>${visible(JSON.stringify(details))}</bdi>`,
      ]),
      empty: { title: DESK_TEXTS.noRecord, text: DESK_TEXTS.noRecordText },
      paging,
    }),
  }
}
