import { definitionList, form, html, notice, table, type Field, type Html } from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import {
  changeConsent,
  changeDailyQuotas,
  type readConsent,
  readSenders,
} from '../../operator/routes/organization-consent.ts'
import { readOrganization } from '../../operator/routes/organizations.ts'
import type { ConsoleCall } from '../console-page.ts'
import { OPTIONAL_REASON, outsideText, pathTo, statusBadge } from '../console-parts.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

type Consent = Awaited<ReturnType<typeof readConsent.run>>
type Quota = Consent['packages_per_day']

const ROWS_PER_PAGE = 25
const NUMBER = new Intl.NumberFormat('en')

/** Whose packages the organization accepts, and how much it may send in a day. */
export async function showConsent(call: ConsoleCall) {
  const { api, params, query, show, operator, now } = call
  const id = params['organization_id'] ?? ''
  const after = query.get('after')
  const [organization, senders] = await Promise.all([
    api(readOrganization, { params: { organization_id: id } }),
    api(readSenders, { params: { organization_id: id }, input: { after, limit: ROWS_PER_PAGE } }),
  ])
  const { consent, name, status, is_platform } = organization
  const mayChange = hasRole(operator, 'operator') && status !== 'ended' && !is_platform
  const path = `${pathTo('organizations', id)}/consent`
  const main = html`<p class="lead">
      From whom <a href="${pathTo('organizations', id)}">${outsideText(name)}</a> accepts packages, and how
      much it may send. Responses and receipts to what it sent always pass, and what was accepted stays.
    </p>
    ${notice({ tone: isClosed(consent) ? 'warn' : 'info', title: acceptsText(consent), text: listText(consent) })}
    ${table({
      caption: 'Listed organizations',
      columns: [
        { title: 'Organization' },
        { title: 'Id' },
        { title: 'Packages' },
        { title: 'Since' },
        { title: 'Action' },
      ],
      rows: senders.items.map((each) => [
        html`<a href="${pathTo('organizations', each.sender_org_id)}">${outsideText(each.name)}</a>`,
        html`<bdi class="id">${each.sender_org_id}</bdi>`,
        statusBadge(each.rule === 'accept' ? 'accepted' : 'blocked'),
        timeOf(each.changed_at, now),
        mayChange && html`<a href="${path}?sender_org_id=${each.sender_org_id}#senders">Change</a>`,
      ]),
      empty: { title: 'No organization is listed', text: 'Nobody is accepted or blocked by name.' },
      paging: pagingLinks(path, {}, { after, next: senders.next_cursor }),
    })}
    ${mayChange && changes(call, path, consent)}
    <h2>What it may send in a day</h2>
    ${definitionList([
      ['Packages', quotaText(consent.packages_per_day)],
      ['New threads', quotaText(consent.threads_per_day)],
    ])}
    ${mayChange && quotaForm(call, `${pathTo('organizations', id)}/quotas`, consent)}`
  return show({ title: `Who may send packages to ${name}`, main })
}

/** For the page of the organization. */
export function acceptsText({
  accepts_from,
  is_default,
}: Pick<Consent, 'accepts_from' | 'is_default'>): string {
  const from = accepts_from === 'anyone' ? 'Anyone who is not blocked' : 'Accepted organizations only'
  return `${from}${is_default ? ', as the deployment profile says (O-50)' : ''}.`
}

/** Nobody can send to it, which may be a mistake. */
function isClosed({ accepts_from, accepted }: Consent): boolean {
  return accepts_from === 'listed' && accepted === 0
}

export function listText({ accepted, blocked }: Pick<Consent, 'accepted' | 'blocked'>): string {
  return `${NUMBER.format(accepted)} accepted and ${NUMBER.format(blocked)} blocked by name.`
}

function quotaText({ used, maximum, is_default }: Quota): string {
  const limit = maximum === null ? 'no limit' : `at most ${NUMBER.format(maximum)}`
  return `${limit}, ${NUMBER.format(used)} today (UTC)${is_default ? '; as the deployment profile says (O-13)' : ''}`
}

function changes({ query, formState }: ConsoleCall, path: string, consent: Consent): Html {
  const from: Field = {
    kind: 'select',
    name: 'accepts_from',
    label: 'Accept packages from',
    isRequired: true,
    value: consent.is_default ? 'default' : consent.accepts_from,
    options: [
      { value: 'anyone', label: 'anyone who is not blocked' },
      { value: 'listed', label: 'accepted organizations only' },
      { value: 'default', label: 'as the deployment profile says' },
    ],
  }
  const senders: Field[] = [
    {
      kind: 'text',
      name: 'sender_org_ids',
      label: 'Organization ids',
      isRequired: true,
      maxLength: 4_096,
      value: query.get('sender_org_id') ?? '',
      hint: 'One or more, separated by blanks.',
    },
    {
      kind: 'select',
      name: 'list',
      label: 'What to do',
      isRequired: true,
      options: [
        { value: 'block', label: 'block' },
        { value: 'accept', label: 'accept' },
        { value: 'remove', label: 'take off both lists' },
      ],
    },
  ]
  return html`<h2>From whom it accepts packages</h2>
    ${form({
      id: 'from',
      action: `${path}/from`,
      ...formState,
      fields: [from, OPTIONAL_REASON],
      submit: { label: 'Change who may send' },
    })}
    <h2 id="senders">Accept or block by name</h2>
    ${form({
      id: 'sender',
      action: `${path}/senders`,
      ...formState,
      fields: [...senders, OPTIONAL_REASON],
      submit: { label: 'Change the lists' },
    })}`
}

function quotaForm({ formState }: ConsoleCall, action: string, consent: Consent): Html {
  const field = (name: 'packages_per_day' | 'threads_per_day', label: string): Field => {
    const { maximum, is_default } = consent[name]
    const value = is_default ? '' : maximum === null ? 'unlimited' : String(maximum)
    const hint = 'A number, or "unlimited". Empty: as the deployment profile says.'
    return { kind: 'text', name, label, maxLength: 10, value, hint }
  }
  return form({
    id: 'quotas',
    action,
    ...formState,
    fields: [
      field('packages_per_day', 'Packages a day, without responses'),
      field('threads_per_day', 'New threads a day'),
      OPTIONAL_REASON,
    ],
    submit: { label: 'Change quotas' },
  })
}

export async function saveAcceptsFrom({ api, params, form: fields, redirect }: ConsoleCall) {
  const input = { accepts_from: fields.get('accepts_from'), reason: fields.get('reason') }
  const answer = await api(changeConsent, { params, input })
  return redirect(pageOf(params), { tone: 'good', title: `Changed: ${acceptsText(answer)}` })
}

export async function saveSenders({ api, params, form: fields, redirect }: ConsoleCall) {
  const ids = (fields.get('sender_org_ids') ?? '').split(/[\s,;]+/u).filter((id) => id !== '')
  const list = fields.get('list') ?? ''
  const answer = await api(changeConsent, { params, input: { [list]: ids, reason: fields.get('reason') } })
  return redirect(pageOf(params), { tone: 'good', title: `Changed: ${listText(answer)}` })
}

export async function saveQuotas({ api, params, form: fields, redirect }: ConsoleCall) {
  const given = (name: string) => {
    const text = fields.get(name) ?? 'default'
    return /^\d+$/u.test(text) ? Number(text) : text
  }
  await api(changeDailyQuotas, {
    params,
    input: {
      packages_per_day: given('packages_per_day'),
      threads_per_day: given('threads_per_day'),
      reason: fields.get('reason'),
    },
  })
  return redirect(pageOf(params), { tone: 'good', title: 'The quotas were changed.' })
}

function pageOf(params: ConsoleCall['params']): string {
  return `${pathTo('organizations', params['organization_id'] ?? '')}/consent`
}
