import { Type } from 'typebox'
import {
  disableOperator,
  findOperator,
  insertOperator,
  listOperators,
  lockActiveOperators,
  type OperatorRow,
} from '../../features/organizations/operator-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { listPage, page } from '../listing.ts'
import { hashToken, newOperatorToken } from '../operator-token.ts'
import { change, input, optionalReason, read, reason, type Route } from '../route.ts'

const newOperator = input({
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
    description: 'a name of at most 64 lower-case letters, digits, ".", "_" and "-"',
  }),
  reason: optionalReason,
})

export const operatorRoutes: readonly Route[] = [
  // The token is shown only in this response.
  change('/operators', { body: newOperator, status: 201 }, async ({ input: { name }, now }, tx) => {
    const token = newOperatorToken()
    const isNew = await insertOperator(tx, { name, tokenHash: hashToken(token), now })
    if (!isNew) throw new Problem('identifier_conflict', { exists: name })
    return { answer: { name, token, created_at: now }, action: 'operator.create', target: name }
  }),

  read('/operators', page, (call, db) =>
    listPage(
      call,
      {
        name: ['operators'],
        rows: (after, limit) => listOperators(db, { after, limit }),
        position: (row) => row.name,
      },
      toOperator,
    ),
  ),

  change('/operators/:name/disable', { body: input({ reason }) }, async ({ params, now }, tx) => {
    const name = params['name'] ?? ''
    const operator = await findOperator(tx, name)
    if (!operator) throw new Problem('resource_not_found')
    const active = await lockActiveOperators(tx)
    if (!active.includes(name)) throw new Problem('invalid_state_transition', { state: 'disabled' })
    // Without an active operator nobody could create another one.
    if (active.length === 1) throw new Problem('invalid_state_transition', { state: 'last_active_operator' })
    await disableOperator(tx, name, now)
    return { answer: toOperator({ ...operator, disabled_at: now }), action: 'operator.disable', target: name }
  }),
]

function toOperator({ name, created_at, disabled_at }: OperatorRow) {
  const status = disabled_at === null ? 'active' : 'disabled'
  return { name, status, created_at, ...(disabled_at !== null && { disabled_at }) }
}
