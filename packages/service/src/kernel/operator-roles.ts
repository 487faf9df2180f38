import { Problem } from './problem.ts'

/** Each role may do what the ones before it may do. */
export const OPERATOR_ROLES = ['viewer', 'operator', 'administrator'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** Who acts, by token or in a browser session. */
export interface Operator {
  /** For the operator log. */
  readonly name: string
  readonly role: OperatorRole
}

export function hasRole({ role }: Operator, required: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(required)
}

export function requireRole(operator: Operator, required: OperatorRole): void {
  if (hasRole(operator, required)) return
  throw new Problem('not_permitted', { required_role: required, role: operator.role })
}
