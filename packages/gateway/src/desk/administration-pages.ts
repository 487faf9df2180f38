import type { DeskAnswer, HostCall, HostRoute } from '@agent-exchange/desk'
import type { GatewaySessions } from '../people/desk-sessions.ts'
import { addPerson, changeRoles, PeopleFailure, removePerson, renewLink } from '../people/people.ts'
import { PEOPLE_TEXTS, RECORD_TEXTS, SESSION_TEXTS } from './desk-texts.ts'
import {
  checkedRoles,
  nobodyHere,
  PEOPLE_PATH,
  peoplePage,
  personPage,
  type PeoplePageParts,
} from './people-pages.ts'
import { RECORD_PATH, recordPage } from './record-page.ts'
import { SESSIONS_PATH, sessionsPage } from './sessions-page.ts'

interface AdministrationParts extends PeoplePageParts {
  readonly now: () => Date
  readonly sessions: GatewaySessions
}

const PERSON_PATH = `${PEOPLE_PATH}/:id`

const actorOf = ({ person }: HostCall) => ({ kind: 'person', id: person.id }) as const
const get = (path: string, handle: HostRoute['handle'], navigation?: string): HostRoute => ({
  method: 'GET',
  path,
  roles: ['administrator'],
  ...(navigation !== undefined && { navigation }),
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

  return [
    get(PEOPLE_PATH, (call) => peoplePage(parts, call), PEOPLE_TEXTS.people),
    post(
      PEOPLE_PATH,
      refusedOn(peoplePage, async (call) => {
        const { fields } = call
        const email = fields.get('email')?.trim() ?? ''
        const person = {
          name: fields.get('name') ?? '',
          roles: checkedRoles(call),
          ...(email !== '' && { email }),
        }
        return peoplePage(parts, call, { invited: await addPerson(db, now(), person, actorOf(call)) })
      }),
    ),
    get(PERSON_PATH, (call) => personPage(parts, call)),
    post(
      `${PERSON_PATH}/roles`,
      refusedOn(personPage, async (call) => {
        await changeRoles(db, call.id, checkedRoles(call), { actor: actorOf(call), now: now() })
        return { kind: 'redirect', to: `${PEOPLE_PATH}/${call.id}`, done: 'roles_changed' }
      }),
    ),
    post(
      `${PERSON_PATH}/link`,
      refusedOn(personPage, async (call) =>
        personPage(parts, call, { invited: await renewLink(db, now(), call.id, actorOf(call)) }),
      ),
    ),
    post(
      `${PERSON_PATH}/remove`,
      refusedOn(personPage, async (call) => {
        const wasThere = await removePerson(db, now(), call.id, actorOf(call))
        return wasThere ? { kind: 'redirect', to: PEOPLE_PATH, done: 'person_removed' } : nobodyHere()
      }),
    ),
    get(SESSIONS_PATH, (call) => sessionsPage(sessions, call), SESSION_TEXTS.sessions),
    post(`${SESSIONS_PATH}/:id/end`, async (call) => {
      await sessions.end(call.id, actorOf(call))
      return { kind: 'redirect', to: SESSIONS_PATH, done: 'session_ended' }
    }),
    get(RECORD_PATH, (call) => recordPage(db, call), RECORD_TEXTS.record),
  ]

  /** What is refused is said on the page with the form. */
  function refusedOn(
    page: typeof peoplePage,
    work: (call: HostCall) => Promise<DeskAnswer>,
  ): HostRoute['handle'] {
    return async (call) => {
      try {
        return await work(call)
      } catch (error) {
        if (error instanceof PeopleFailure) return page(parts, call, { problem: error.message })
        throw error
      }
    }
  }
}
