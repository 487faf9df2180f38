import { DESK_ROLES, passkeyForm, type DeskAnswer, type HostCall, type HostRoute } from '@agent-exchange/desk'
import {
  confirmation,
  emptyState,
  exactTime,
  form,
  html,
  notice,
  table,
  type Html,
} from '@agent-exchange/web'
import { APPROVAL_PROBLEMS } from '../approvals/approval-problem.ts'
import { MAXIMUM_PASSKEY_NAME_CHARACTERS } from '../approvals/approval-limits.ts'
import type { Passkey } from '../approvals/passkey-rows.ts'
import type { Passkeys, SignedInPerson } from '../approvals/passkeys.ts'
import { asRefusal, parsed } from './passkey-desk.ts'

const PATH = '/passkeys'

const route = (method: HostRoute['method'], path: string, handle: HostRoute['handle']): HostRoute => ({
  method,
  path,
  roles: DESK_ROLES,
  handle: (call) => asRefusal(() => handle(call)),
})

/** The pages on which a person manages the own passkeys. */
export function passkeyRoutes(passkeys: Passkeys): readonly HostRoute[] {
  return [
    { ...route('GET', PATH, (call) => listPage(passkeys, call)), navigation: 'Passkeys' },
    route('POST', `${PATH}/new`, (call) => newPage(passkeys, call)),
    route('POST', `${PATH}/register`, async (call) => {
      const [name, answer] = [call.fields.get('name') ?? '', call.fields.get('answer') ?? '']
      await passkeys.register(personOf(call), name, parsed(answer))
      return { kind: 'redirect', to: PATH, done: 'passkey_added' }
    }),
    route('POST', `${PATH}/remove`, async ({ person, fields }) => {
      const isRemoved = await passkeys.remove(person.id, fields.get('passkey_id') ?? '')
      return { kind: 'redirect', to: PATH, ...(isRemoved && { done: 'passkey_removed' }) }
    }),
  ]
}

const personOf = ({ person, session }: HostCall): SignedInPerson => ({
  personId: person.id,
  name: person.name,
  signedInAt: new Date(session.signedInAt),
})

async function listPage(passkeys: Passkeys, { person, csrfToken }: HostCall): Promise<DeskAnswer> {
  const listed = await passkeys.list(person.id)
  return {
    kind: 'page',
    title: 'Your passkeys',
    section: PATH,
    main: html`<p>
        With a passkey you sign in and decide about drafts. It counts for drafts that are made after it was
        registered.
      </p>
      ${listed.length > 0 ? passkeyTable(listed, csrfToken) : emptyState({ title: 'No passkey yet.', text: 'Register one below.' })}
      <h2>Register a passkey</h2>
      ${
        passkeys.isAvailable
          ? form({
              id: 'new',
              action: `${PATH}/new`,
              csrfToken,
              fields: [
                {
                  kind: 'text',
                  name: 'name',
                  label: 'Name',
                  hint: 'To recognize it in this list, such as “Laptop”.',
                  isRequired: true,
                  maxLength: MAXIMUM_PASSKEY_NAME_CHARACTERS,
                },
              ],
              submit: { label: 'Continue' },
            })
          : notice({
              tone: 'warn',
              title: 'No passkeys at this address.',
              text: APPROVAL_PROBLEMS.passkeys_unavailable,
            })
      }`,
  }
}

function passkeyTable(listed: readonly Passkey[], csrfToken: string): Html {
  return table({
    caption: 'Registered passkeys',
    hidesCaption: true,
    columns: ['Name', 'Registered', 'Last used', 'Change'].map((title) => ({ title })),
    rows: listed.map(({ passkeyId, name, registeredAt, lastUsedAt }, index) => [
      html`<bdi>${name}</bdi>`,
      exactTime(new Date(registeredAt)),
      lastUsedAt === null ? 'never' : exactTime(new Date(lastUsedAt)),
      confirmation({
        summary: 'Remove…',
        explanation:
          'You cannot sign in or decide with it any more. Approvals that it gave and that were not used are void.',
        form: {
          id: `remove-${index}`,
          action: `${PATH}/remove`,
          csrfToken,
          fields: [{ kind: 'hidden', name: 'passkey_id', value: passkeyId }],
          submit: { label: 'Remove now' },
        },
      }),
    ]),
  })
}

async function newPage(passkeys: Passkeys, call: HostCall): Promise<DeskAnswer> {
  const name = (call.fields.get('name') ?? '').trim()
  const options = await passkeys.registrationOptions(personOf(call))
  return {
    kind: 'page',
    title: 'Register a passkey',
    section: PATH,
    main: html`<p>
        Your browser asks where to keep the passkey <bdi>${name}</bdi>, and for your PIN, fingerprint or face.
      </p>
      ${passkeyForm({
        id: 'register',
        action: `${PATH}/register`,
        csrfToken: call.csrfToken,
        ceremony: 'create',
        options,
        label: 'Create the passkey',
        fields: { name },
      })}`,
  }
}
