import {
  badge,
  definitionList,
  form,
  html,
  notice,
  table,
  type Html,
  type FormState,
} from '@agent-exchange/web'
import { hasRole, OPERATOR_ROLES } from '../../kernel/operator-roles.ts'
import {
  changeOperatorRole,
  createOperator,
  endOperator,
  readOperator,
  readOperators,
} from '../../operator/routes/operators.ts'
import { get, post, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { timeOf } from '../time.ts'
import { pagingLinks } from '../paging.ts'

const ROLE_FIELD = {
  kind: 'select',
  name: 'role',
  label: 'Role',
  isRequired: true,
  options: OPERATOR_ROLES.map((value) => ({ value, label: value })),
} as const
const REASON_FIELD = { kind: 'text', name: 'reason', label: 'Reason', maxLength: 1_000 } as const

export const operatorsPages: readonly ConsolePage[] = [
  get('/operators', list),
  get('/operators/:name', show),
  post('/operators', create, 'administrator'),
  post('/operators/:name/role', setRole, 'administrator'),
  post('/operators/:name/disable', disable, 'administrator'),
]

async function list({ api, query, show: page, now, operator, formState }: ConsoleCall) {
  const after = query.get('after')
  const operators = await api(readOperators, { input: { after } })
  const main = html`<p class="lead">
      People and programs that may use the operator API. Those who sign in with the identity provider are not
      in this list.
    </p>
    ${table({
      caption: 'Operators',
      hidesCaption: true,
      columns: [{ title: 'Name' }, { title: 'Role' }, { title: 'Status' }, { title: 'Created' }],
      rows: operators.items.map(({ name, role, status, created_at }) => [
        html`<a href="/operators/${name}">${name}</a>`,
        role,
        statusBadge(status),
        timeOf(created_at, now),
      ]),
      paging: pagingLinks('/operators', {}, { after, next: operators.next_cursor }),
    })}
    ${hasRole(operator, 'administrator') && creation(formState)}`
  return page({ title: 'Operators', main })
}

function creation(formState: FormState): Html {
  return html`<h2>Create an operator</h2>
    ${form({
      id: 'create',
      action: '/operators',
      ...formState,
      fields: [
        {
          kind: 'text',
          name: 'name',
          label: 'Name',
          isRequired: true,
          maxLength: 64,
          hint: 'Lower-case letters, digits, ".", "_" and "-". It appears in the operator log.',
        },
        {
          ...ROLE_FIELD,
          value: 'viewer',
          hint: 'A viewer reads. An operator changes. An administrator also manages operators and keys.',
        },
        REASON_FIELD,
      ],
      submit: { label: 'Create operator' },
    })}`
}

/** The token is on this page alone, so the answer is no redirect. */
async function create({ api, form: fields, show: page }: ConsoleCall) {
  const created = await api(createOperator, {
    input: { name: fields.get('name'), role: fields.get('role'), reason: fields.get('reason') },
  })
  const main = html`${notice({
      tone: 'warn',
      title: 'Copy the token now. It is not shown again.',
      text: 'Whoever has it can act as this operator. Hand it over on a confidential channel.',
    })}
    ${definitionList([
      ['Name', created.name],
      ['Role', created.role],
      [
        'Token',
        html`<span class="copy"
          ><code>${created.token}</code>
          <button type="button" data-copy="${created.token}" aria-label="Copy the token" hidden>
            Copy
          </button></span
        >`,
      ],
    ])}
    <p><a href="/operators">Back to the operators</a></p>`
  return page({ title: `Operator ${created.name} created`, main })
}

async function show({ api, params, show: page, operator, formState, now }: ConsoleCall) {
  const name = params['name'] ?? ''
  const found = await api(readOperator, { params: { name } })
  const canChange = hasRole(operator, 'administrator') && found.status === 'active'
  const main = html`${definitionList([
    ['Role', found.role],
    ['Status', statusBadge(found.status)],
    ['Created', timeOf(found.created_at, now)],
    ['Changes', html`<a href="/operator-log?actor=${name}">In the operator log</a>`],
  ])}
  ${canChange && changes(name, found.role, formState)}`
  return page({ title: `Operator ${name}`, main })
}

function changes(name: string, role: string, formState: FormState): Html {
  return html`<h2>Change the role</h2>
    ${form({
      id: 'role',
      action: `/operators/${name}/role`,
      ...formState,
      fields: [{ ...ROLE_FIELD, value: role }, REASON_FIELD],
      submit: { label: 'Change role' },
    })}
    <h2>Disable</h2>
    <p>
      The token and all sessions of this operator stop working with the next request. This cannot be undone;
      the name stays taken.
    </p>
    ${form({
      id: 'disable',
      action: `/operators/${name}/disable`,
      ...formState,
      fields: [{ ...REASON_FIELD, isRequired: true }],
      submit: { label: 'Disable operator', tone: 'danger' },
    })}`
}

async function setRole({ api, params, form: fields, redirect }: ConsoleCall) {
  const name = params['name'] ?? ''
  const input = { role: fields.get('role'), reason: fields.get('reason') }
  const { role } = await api(changeOperatorRole, { params: { name }, input })
  return redirect(`/operators/${name}`, { tone: 'good', title: `${name} now has the role ${role}.` })
}

async function disable({ api, params, form: fields, redirect }: ConsoleCall) {
  const name = params['name'] ?? ''
  await api(endOperator, { params: { name }, input: { reason: fields.get('reason') } })
  return redirect('/operators', { tone: 'good', title: `${name} was disabled.` })
}

function statusBadge(status: 'active' | 'disabled'): Html {
  return badge(status === 'active' ? 'good' : 'neutral', status)
}
