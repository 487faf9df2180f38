import { Type } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import {
  disableOperator,
  findOperator,
  insertOperator,
  listOperators,
  lockActiveOperators,
  setOperatorRole,
  type OperatorRow,
} from '../../features/operators/operator-store.ts'
import { OPERATOR_ROLES } from '../../kernel/operator-roles.ts'
import { Problem } from '../../kernel/problem.ts'
import { listPage, page } from '../listing.ts'
import { hashToken, newOperatorToken } from '../operator-token.ts'
import { change, input, optionalReason, read, reason, type Route } from '../route.ts'

const role = Type.Enum([...OPERATOR_ROLES])

const newOperator = input({
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
    description: 'a name of at most 64 lower-case letters, digits, ".", "_" and "-"',
  }),
  // Required: a forgotten role must not give all rights.
  role,
  reason: optionalReason,
})

/** The token is shown only in this response. */
export const createOperator = change(
  '/operators',
  { body: newOperator, status: 201, role: 'administrator' },
  async ({ input: { name, role: given }, now }, tx) => {
    const token = newOperatorToken()
    const isNew = await insertOperator(tx, { name, role: given, tokenHash: hashToken(token), now })
    if (!isNew) throw new Problem('identifier_conflict', { exists: name })
    const answer = { name, role: given, token, created_at: now }
    return { answer, action: 'operator.create', target: name, details: { role: given } }
  },
)

export const readOperators = read('/operators', page, (call, db) =>
  listPage(
    call,
    {
      name: ['operators'],
      rows: (after, limit) => listOperators(db, { after, limit }),
      position: (row) => row.name,
    },
    toOperator,
  ),
)

export const readOperator = read('/operators/:name', input({}), async ({ params }, db) => {
  const operator = await findOperator(db, params['name'] ?? '')
  if (!operator) throw new Problem('resource_not_found')
  return toOperator(operator)
})

/** Effective with the next request of the operator, also in running sessions. */
export const changeOperatorRole = change(
  '/operators/:name/role',
  { body: input({ role, reason: optionalReason }), role: 'administrator' },
  async ({ params, input: { role: next } }, tx) => {
    const operator = await requireActive(tx, params['name'], { keepsAdministrator: next === 'administrator' })
    if (operator.role === next) throw new Problem('invalid_state_transition', { state: next })
    await setOperatorRole(tx, operator.name, next)
    const details = { role: next, former_role: operator.role }
    const answer = toOperator({ ...operator, role: next })
    return { answer, action: 'operator.set-role', target: operator.name, details }
  },
)

export const endOperator = change(
  '/operators/:name/disable',
  { body: input({ reason }), role: 'administrator' },
  async ({ params, now }, tx) => {
    const operator = await requireActive(tx, params['name'], { keepsAdministrator: false })
    await disableOperator(tx, operator.name, now)
    const answer = toOperator({ ...operator, disabled_at: now })
    return { answer, action: 'operator.disable', target: operator.name }
  },
)

export const operatorRoutes: readonly Route[] = [
  createOperator,
  readOperators,
  readOperator,
  changeOperatorRole,
  endOperator,
]

/** Without an active administrator nobody could create another one. */
async function requireActive(
  tx: Transaction,
  name = '',
  { keepsAdministrator }: { readonly keepsAdministrator: boolean },
): Promise<OperatorRow> {
  if (!(await findOperator(tx, name))) throw new Problem('resource_not_found')
  const active = await lockActiveOperators(tx)
  // Read after the lock: a concurrent change of the role has committed.
  const operator = await findOperator(tx, name)
  if (!operator || !active.some((each) => each.name === name)) {
    throw new Problem('invalid_state_transition', { state: 'disabled' })
  }
  const others = active.filter((each) => each.name !== name && each.role === 'administrator')
  if (operator.role === 'administrator' && !keepsAdministrator && others.length === 0) {
    throw new Problem('invalid_state_transition', { state: 'last_active_administrator' })
  }
  return operator
}

function toOperator({ disabled_at, ...operator }: OperatorRow) {
  const status = disabled_at === null ? ('active' as const) : ('disabled' as const)
  return { ...operator, status, ...(disabled_at !== null && { disabled_at }) }
}
