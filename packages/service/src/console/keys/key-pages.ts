import {
  confirmation,
  definitionList,
  form,
  html,
  identifier,
  notice,
  shortIdentifier,
  table,
  type Html,
  type FormState,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { Problem } from '../../kernel/problem.ts'
import { readPlatformKeys, revokePlatformKey, rotatePlatformKey } from '../../operator/routes/keys.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { OPTIONAL_REASON, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { timeOf } from '../time.ts'

const PURPOSES = {
  webhook: {
    title: 'Webhook keys',
    meaning: 'Sign every webhook. A rotated key signs after the lead time of O-38, when agents know it.',
    revocation:
      'Endpoints switch at once to the standby key, which agents already know. The key stays in the directory as revoked.',
  },
  token: {
    title: 'Token keys',
    meaning: 'Sign access tokens. Tokens of a rotated key stay valid until they expire.',
    revocation: 'All access tokens that it signed stop working; clients request new ones by themselves.',
  },
  statement: {
    title: 'Statement keys',
    meaning:
      'Sign acceptance of packages and skill releases as agent_platform. Agents accept a rotated key because the earlier one introduced it.',
    revocation: 'A person at each agent has to confirm the new key, because no earlier key can introduce it.',
  },
} as const
type Purpose = keyof typeof PURPOSES
const NAMES = Object.keys(PURPOSES) as Purpose[]

type PlatformKey = Awaited<ReturnType<typeof readPlatformKeys.run>>['keys'][number]

export const keysPages: readonly ConsolePage[] = [
  get('/keys', list),
  post('/keys/rotate', rotate, 'administrator'),
  get('/keys/:key_id', showOne),
  post('/keys/:key_id/revoke', revoke, 'administrator'),
]

async function list({ api, show, operator, formState, now }: ConsoleCall) {
  const sections: Html[] = []
  for (const purpose of NAMES) {
    const { keys } = await api(readPlatformKeys, { input: { purpose } })
    sections.push(section(purpose, keys, now))
    if (hasRole(operator, 'administrator')) sections.push(rotation(purpose, formState))
  }
  const main = html`<p class="lead">
      Keys of the exchange itself. Private keys are encrypted under the master key.
    </p>
    ${sections}`
  return show({ title: 'Keys of the exchange', main })
}

function section(purpose: Purpose, keys: readonly PlatformKey[], now: Date): Html {
  const { title, meaning } = PURPOSES[purpose]
  return html`<h2>${title}</h2>
    <p>${meaning}</p>
    ${table({
      caption: title,
      hidesCaption: true,
      columns: [
        { title: 'Key' },
        { title: 'Status' },
        { title: 'Valid from' },
        { title: 'Revoked' },
        ...(purpose === 'webhook' ? [{ title: 'Endpoints', isNumeric: true }] : []),
      ],
      rows: keys.map((key) => [
        shortIdentifier(key.key_id, pathTo('keys', key.key_id)),
        key.standby ? html`${statusBadge(key.status ?? '')} standby` : statusBadge(key.status ?? ''),
        timeOf(key.valid_from, now),
        key.revoked_at && timeOf(key.revoked_at, now),
        ...(purpose === 'webhook' ? [key.endpoints ?? 0] : []),
      ]),
      empty: { title: 'No keys', text: 'The service creates them at its first start.' },
    })}`
}

function rotation(purpose: Purpose, formState: FormState): Html {
  return confirmation({
    summary: 'Rotate…',
    explanation: `The next key is published at once. ${PURPOSES[purpose].meaning}`,
    form: {
      id: `rotate-${purpose}`,
      action: '/keys/rotate',
      ...formState,
      fields: [{ kind: 'hidden', name: 'purpose', value: purpose }, OPTIONAL_REASON],
      submit: { label: 'Rotate key', tone: 'primary' },
    },
  })
}

async function rotate({ api, form: fields, redirect }: ConsoleCall) {
  const input = { purpose: fields.get('purpose'), reason: fields.get('reason') }
  const { key_id } = await api(rotatePlatformKey, { input })
  return redirect('/keys', { tone: 'good', title: `${key_id} is published.` })
}

async function showOne({ api, params, show, operator, formState, now }: ConsoleCall) {
  const { key, purpose } = await findKey(api, params['key_id'] ?? '')
  const isUsable = key.status === 'active' || key.status === 'retiring'
  const main = html`${definitionList([
    ['Key', identifier(key.key_id)],
    ['Purpose', PURPOSES[purpose].title],
    ['Status', statusBadge(key.status ?? '')],
    ['Valid from', timeOf(key.valid_from, now)],
    ['Standby', key.standby ? 'yes' : 'no'],
    ['Revoked', key.revoked_at ? timeOf(key.revoked_at, now) : 'no'],
    ['Changes', html`<a href="/operator-log?target=${key.key_id}">In the operator log</a>`],
  ])}
  ${isUsable && hasRole(operator, 'administrator') && revocation(key, purpose, formState)}`
  return show({ title: 'Key of the exchange', main })
}

function revocation({ key_id }: PlatformKey, purpose: Purpose, formState: FormState): Html {
  return html`<h2>Revoke</h2>
    ${notice({ tone: 'warn', title: 'For emergencies only. This cannot be undone.', text: PURPOSES[purpose].revocation })}
    ${form({
      id: 'revoke',
      action: `${pathTo('keys', key_id)}/revoke`,
      ...formState,
      fields: [REASON],
      submit: { label: 'Revoke key', tone: 'danger' },
      cancel: { href: '/keys', label: 'Cancel' },
    })}`
}

async function revoke({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['key_id'] ?? ''
  await api(revokePlatformKey, { params: { key_id: id }, input: { reason: fields.get('reason') } })
  return redirect(pathTo('keys', id), { tone: 'good', title: 'The key is revoked.' })
}

async function findKey(api: ConsoleCall['api'], id: string): Promise<{ key: PlatformKey; purpose: Purpose }> {
  for (const purpose of NAMES) {
    const { keys } = await api(readPlatformKeys, { input: { purpose } })
    const key = keys.find(({ key_id }) => key_id === id)
    if (key) return { key, purpose }
  }
  throw new Problem('resource_not_found')
}
