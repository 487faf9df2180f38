import { DESK_ROLES, type DeskAnswer, type DeskRole, type HostCall } from '@agent-exchange/desk'
import type { Database } from '@agent-exchange/database'
import {
  badge,
  confirmation,
  definitionList,
  form,
  html,
  identifier,
  named,
  notice,
  relativeTime,
  shortId,
  table,
  visible,
  type Field,
  type Html,
} from '@agent-exchange/web'
import { listPeople, type Invited } from '../people/people.ts'
import { findPerson, type Person } from '../people/person-rows.ts'
import { PEOPLE_TEXTS as T } from './desk-texts.ts'
import { askedPage, pagingOf } from './list-paging.ts'

export const PEOPLE_PATH = '/people'

export interface PeoplePageParts {
  readonly db: Database
  readonly publicUrl: string
}

/** What the last change led to. */
export interface PeopleState {
  readonly invited?: Invited
  readonly problem?: string
}

/** Everybody who can sign in, and the form that invites one more person. */
export async function peoplePage(
  { db, publicUrl }: PeoplePageParts,
  call: HostCall,
  state: PeopleState = {},
): Promise<DeskAnswer> {
  const page = await listPeople(db, askedPage(call))
  return {
    kind: 'page',
    title: T.people,
    section: PEOPLE_PATH,
    ...statusOf(state),
    main: html`${notices(state, publicUrl)}
      ${table({
        caption: T.people,
        hidesCaption: true,
        columns: [T.person, T.roles, T.signsInBy, T.since].map((title) => ({ title })),
        rows: page.rows.map((person) => [
          named({
            name: person.name,
            id: person.id,
            href: pathOf(person),
            below: html`${visible(person.email ?? '')} ${shortId(person.id)}`,
          }),
          rolesOf(person),
          signsInBy(person),
          relativeTime(new Date(person.addedAt), call.now),
        ]),
        empty: { title: T.nobody, text: T.nobodyText },
        paging: pagingOf(PEOPLE_PATH, call, page),
      })}
      <h2>${T.invitePerson}</h2>
      ${form({
        id: 'invite',
        action: PEOPLE_PATH,
        csrfToken: call.csrfToken,
        fields: [
          { kind: 'text', name: 'name', label: T.name, isRequired: true, maxLength: 200 },
          { kind: 'email', name: 'email', label: T.email, maxLength: 200 },
          ...roleFields([]),
        ],
        submit: { label: T.invite },
      })}`,
  }
}

/** One person, with everything that an administrator can change. */
export async function personPage(
  { db, publicUrl }: PeoplePageParts,
  call: HostCall,
  state: PeopleState = {},
): Promise<DeskAnswer> {
  const person = await findPerson(db, call.id)
  if (!person) return nobodyHere()
  return {
    kind: 'page',
    title: visible(person.name),
    section: PEOPLE_PATH,
    ...statusOf(state),
    main: html`${notices(state, publicUrl)} ${definitionList(factsOf(person, call))}
      <h2>${T.roles}</h2>
      ${rolesPart(person, call)} ${!person.isOfProvider && newLinkPart(person, call)}
      <h2>${T.leaves}</h2>
      ${person.id === call.person.id ? html`<p>${T.yourself}</p>` : removePart(person, call)}`,
  }
}

/** The roles that are checked in a form. */
export const checkedRoles = ({ fields }: HostCall): readonly DeskRole[] =>
  DESK_ROLES.filter((role) => fields.get(role) === 'on')

export const nobodyHere = (): DeskAnswer => ({
  kind: 'page',
  status: 404,
  title: T.noPerson,
  section: PEOPLE_PATH,
  main: html`<p><a href="${PEOPLE_PATH}">${T.people}</a></p>`,
})

const statusOf = ({ problem }: PeopleState) => (problem === undefined ? {} : { status: 422 })

const pathOf = ({ id }: Pick<Person, 'id'>, rest = ''): `/${string}` => `${PEOPLE_PATH}/${id}${rest}`

const rolesOf = ({ roles }: Person) => roles.map((role) => html`${badge('neutral', role)} `)

const signsInBy = ({ isOfProvider }: Person) => (isOfProvider ? T.ofProvider : T.byInvitation)

function notices({ invited, problem }: PeopleState, publicUrl: string): Html {
  return html`${problem !== undefined && notice({ tone: 'bad', title: problem })}
  ${
    invited &&
    notice({
      tone: 'good',
      title: T.linkOnce,
      text: html`<code>${publicUrl}/enter?link=${invited.link}</code>`,
    })
  }`
}

function factsOf(person: Person, { now }: HostCall) {
  const { email, addedAt, id } = person
  return [
    ...(email === undefined ? [] : [[T.email, html`<bdi>${visible(email)}</bdi>`] as const]),
    [T.signsInBy, signsInBy(person)] as const,
    [T.since, relativeTime(new Date(addedAt), now)] as const,
    [T.id, identifier(id)] as const,
  ]
}

const roleFields = (checked: readonly DeskRole[]): readonly Field[] =>
  DESK_ROLES.map((role) => ({
    kind: 'checkbox',
    name: role,
    label: `${role}: ${T.rolesExplained[role]}`,
    isChecked: checked.includes(role),
  }))

function rolesPart(person: Person, { csrfToken }: HostCall): Html {
  if (person.isOfProvider)
    return html`<p>${rolesOf(person)}</p>
      <p class="quiet">${T.rolesOfProvider}</p>`
  return form({
    id: 'roles',
    action: pathOf(person, '/roles'),
    csrfToken,
    fields: roleFields(person.roles),
    submit: { label: T.saveRoles },
  })
}

function newLinkPart(person: Person, { csrfToken }: HostCall): Html {
  return html`<h2>${T.lostAccess}</h2>
    ${confirmation({
      summary: `${T.newLink}…`,
      explanation: T.newLinkExplained,
      form: {
        id: 'link',
        action: pathOf(person, '/link'),
        csrfToken,
        fields: [],
        submit: { label: T.makeLink },
      },
    })}`
}

function removePart(person: Person, { csrfToken }: HostCall): Html {
  return confirmation({
    summary: `${T.remove}…`,
    explanation: T.removeExplained,
    form: {
      id: 'remove',
      action: pathOf(person, '/remove'),
      csrfToken,
      fields: [],
      submit: { label: T.removeNow },
    },
  })
}
