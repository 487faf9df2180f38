import { DESK_ROLES, passkeyForm, type DeskAnswer, type HostCall, type HostRoute } from '@agent-exchange/desk'
import type { Database } from '@agent-exchange/database'
import {
  buttonLink,
  confirmation,
  emptyState,
  exactTime,
  form,
  html,
  notice,
  table,
  visible,
  type Html,
} from '@agent-exchange/web'
import { APPROVAL_PROBLEMS } from '../approvals/approval-problem.ts'
import { MAXIMUM_PASSKEY_NAME_CHARACTERS } from '../approvals/approval-limits.ts'
import type { Passkey } from '../approvals/passkey-rows.ts'
import type { Passkeys, SignedInPerson } from '../approvals/passkeys.ts'
import type { GatewaySessions } from '../people/desk-sessions.ts'
import { lastLinkUse } from '../people/person-links.ts'
import { findPerson } from '../people/person-rows.ts'
import { PASSKEYS_TEXTS as T } from './desk-texts.ts'
import { asRefusal, parsed } from './passkey-desk.ts'

export interface PasskeyPageParts {
  readonly db: Database
  readonly passkeys: Passkeys
  readonly sessions: Pick<GatewaySessions, 'proofOf'>
}

const PATH = '/passkeys'

const route = (method: HostRoute['method'], path: string, handle: HostRoute['handle']): HostRoute => ({
  method,
  path,
  roles: DESK_ROLES,
  handle: (call) => asRefusal(() => handle(call)),
})

/** The pages on which a person manages the own passkeys. */
export function passkeyRoutes(parts: PasskeyPageParts): readonly HostRoute[] {
  const { passkeys, sessions } = parts
  return [
    { ...route('GET', PATH, (call) => listPage(parts, call)), navigation: T.navigation },
    route('POST', `${PATH}/new`, (call) => newPage(parts, call)),
    route('POST', `${PATH}/register`, async (call) => {
      const [name, answer] = [call.fields.get('name') ?? '', call.fields.get('answer') ?? '']
      await passkeys.register(await personOf(sessions, call), name, parsed(answer))
      return { kind: 'redirect', to: PATH, done: 'passkey_added' }
    }),
    route('POST', `${PATH}/remove`, async ({ person, fields }) => {
      const isRemoved = await passkeys.remove(person.id, fields.get('passkey_id') ?? '')
      return { kind: 'redirect', to: PATH, ...(isRemoved && { done: 'passkey_removed' }) }
    }),
  ]
}

const personOf = async (
  sessions: PasskeyPageParts['sessions'],
  { person, session }: HostCall,
): Promise<SignedInPerson> => ({
  personId: person.id,
  name: person.name,
  ...(await sessions.proofOf(session)),
})

async function listPage({ passkeys, sessions, db }: PasskeyPageParts, call: HostCall): Promise<DeskAnswer> {
  const { person, csrfToken } = call
  const [listed, known, linkUsedAt, signedIn] = await Promise.all([
    passkeys.list(person.id),
    findPerson(db, person.id),
    lastLinkUse(db, person.id),
    personOf(sessions, call),
  ])
  const isOfProvider = known?.isOfProvider === true
  return {
    kind: 'page',
    title: T.title,
    section: PATH,
    main: html`<p>${isOfProvider ? T.decides : T.signsIn} ${T.counts}</p>
      ${linkUsedAt !== undefined && linkNotice(linkUsedAt)}
      ${listed.length > 0 ? passkeyTable(listed, csrfToken) : emptyState({ title: T.none, text: T.noneText })}
      <h2>${T.register}</h2>
      ${isOfProvider && passkeys.isAvailable && !passkeys.isFresh(signedIn) && askAgain()}
      ${
        passkeys.isAvailable
          ? (!isOfProvider || passkeys.isFresh(signedIn)) &&
            form({
              id: 'new',
              action: `${PATH}/new`,
              csrfToken,
              fields: [
                {
                  kind: 'text',
                  name: 'name',
                  label: T.name,
                  hint: T.nameHint,
                  isRequired: true,
                  maxLength: MAXIMUM_PASSKEY_NAME_CHARACTERS,
                },
              ],
              submit: { label: T.next },
            })
          : notice({
              tone: 'warn',
              title: T.unavailable,
              text: APPROVAL_PROBLEMS.passkeys_unavailable,
            })
      }`,
  }
}

/** An administrator could have opened it, so the person has to see it. */
const linkNotice = (usedAt: string) =>
  notice({
    tone: 'info',
    title: T.linkUsed,
    text: html`${exactTime(new Date(usedAt))}. ${T.linkUsedText}`,
  })

/** The company's own sign-in, with the question of the provider: an open session there proves nobody. */
const askAgain = () =>
  html`<p>${T.signInFresh}</p>
    <p>${buttonLink(`/sign-in/oidc?again&next=${encodeURIComponent(PATH)}`, T.signInAgain, 'primary')}</p>`

function passkeyTable(listed: readonly Passkey[], csrfToken: string): Html {
  return table({
    caption: T.registered,
    hidesCaption: true,
    columns: T.columns.map((title) => ({ title })),
    rows: listed.map(({ passkeyId, name, registeredAt, lastUsedAt }, index) => [
      html`<bdi>${visible(name)}</bdi>`,
      exactTime(new Date(registeredAt)),
      lastUsedAt === null ? T.never : exactTime(new Date(lastUsedAt)),
      confirmation({
        summary: T.remove,
        explanation: T.removeExplained,
        form: {
          id: `remove-${index}`,
          action: `${PATH}/remove`,
          csrfToken,
          fields: [{ kind: 'hidden', name: 'passkey_id', value: passkeyId }],
          submit: { label: T.removeNow },
        },
      }),
    ]),
  })
}

async function newPage({ passkeys, sessions }: PasskeyPageParts, call: HostCall): Promise<DeskAnswer> {
  const name = (call.fields.get('name') ?? '').trim()
  const options = await passkeys.registrationOptions(await personOf(sessions, call))
  return {
    kind: 'page',
    title: T.register,
    section: PATH,
    main: html`<p>${T.asksWhere} <bdi>${visible(name)}</bdi>, ${T.asksWho}</p>
      ${passkeyForm({
        id: 'register',
        action: `${PATH}/register`,
        csrfToken: call.csrfToken,
        ceremony: 'create',
        options,
        label: T.create,
        fields: { name },
      })}`,
  }
}
