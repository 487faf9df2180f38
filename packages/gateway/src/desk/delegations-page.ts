import type { Database } from '@agent-exchange/database'
import type { DeskAnswer, HostCall, HostRoute } from '@agent-exchange/desk'
import { exactTime, form, html, table, visible } from '@agent-exchange/web'
import { ApprovalProblem } from '../approvals/approval-problem.ts'
import { addDelegation, endDelegation, listDelegations, type Delegation } from '../approvals/delegations.ts'
import { listPeople } from '../people/people.ts'
import { namesOf } from '../people/person-rows.ts'
import { DELEGATION_TEXTS as T } from './desk-texts.ts'
import { asRefusal } from './passkey-desk.ts'

const PATH = '/delegations'

const route = (method: HostRoute['method'], path: string, handle: HostRoute['handle']): HostRoute => ({
  method,
  path,
  roles: ['approver'],
  handle: (call) => asRefusal(() => handle(call)),
})

export interface DelegationPageParts {
  readonly db: Database
  readonly now: () => Date
}

/** The pages on which an approver lets another person approve for a time. Both changes are recorded. */
export function delegationRoutes({ db, now }: DelegationPageParts): readonly HostRoute[] {
  const byPerson = ({ person }: HostCall) => ({
    actor: { kind: 'person' as const, id: person.id },
    now: now(),
  })
  const own = async ({ person }: HostCall) =>
    (await listDelegations(db, now())).filter(({ from }) => from === person.id)

  return [
    { ...route('GET', PATH, async (call) => page(db, call, await own(call))), navigation: T.delegations },
    route('POST', PATH, async (call) => {
      const endsAt = endOfDay(call.fields.get('until') ?? '')
      const terms = { from: call.person.id, to: call.fields.get('to') ?? '', endsAt }
      await addDelegation(db, terms, byPerson(call))
      return { kind: 'redirect', to: PATH, done: 'delegation_added' }
    }),
    route('POST', `${PATH}/:id/end`, async (call) => {
      // Another person's delegation and an unknown one answer alike.
      const isOwn = (await own(call)).some(({ delegationId }) => delegationId === call.id)
      const isEnded = isOwn && (await endDelegation(db, call.id, byPerson(call)))
      return { kind: 'redirect', to: PATH, ...(isEnded && { done: 'delegation_ended' }) }
    }),
  ]
}

function endOfDay(day: string): Date {
  const end = new Date(`${day}T23:59:59.999Z`)
  if (Number.isNaN(end.getTime())) throw new ApprovalProblem('delegation_time')
  return end
}

async function page(
  db: Database,
  { person, csrfToken }: HostCall,
  own: readonly Delegation[],
): Promise<DeskAnswer> {
  const { rows: people, next } = await listPeople(db)
  const names = await namesOf(
    db,
    own.map(({ to }) => to),
  )
  const options = people
    .filter(({ id }) => id !== person.id)
    .map(({ id, name }) => ({ value: id, label: visible(name) }))
  return {
    kind: 'page',
    title: T.delegations,
    section: PATH,
    main: html`<p>${T.explanation}</p>
      ${table({
        caption: T.delegations,
        hidesCaption: true,
        columns: T.columns.map((title) => ({ title })),
        rows: own.map(({ delegationId, to, endsAt }) => [
          html`<bdi>${visible(names.get(to) ?? to)}</bdi>`,
          exactTime(new Date(endsAt)),
          form({
            id: `end-${delegationId}`,
            action: `${PATH}/${delegationId}/end`,
            csrfToken,
            fields: [],
            submit: { label: T.end, tone: 'plain' },
          }),
        ]),
        empty: { title: T.none, text: T.noneText },
      })}
      <h2>${T.delegate}</h2>
      ${form({
        id: 'delegate',
        action: PATH,
        csrfToken,
        fields: [
          {
            kind: 'select',
            name: 'to',
            label: T.person,
            isRequired: true,
            options,
            ...(next !== undefined && { hint: T.morePeople(people.length) }),
          },
          { kind: 'date', name: 'until', label: T.lastDay, isRequired: true },
        ],
        submit: { label: T.delegate },
      })}`,
  }
}
