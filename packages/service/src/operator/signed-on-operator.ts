import { SignOnFailure, type SignedOn } from '@agent-exchange/server/sign-on'
import { hasRole, type Operator, type OperatorRole } from '../kernel/operator-roles.ts'

const MAXIMUM_NAME_CHARACTERS = 200
const NAME = /^[\x21-\x7e]+$/u

/** The highest role of all groups. The name is one that only the provider can change. */
export function operatorOf({ subject, email, roles: [first, ...others] }: SignedOn<OperatorRole>): Operator {
  const role = others.reduce((best, next) => (hasRole({ name: '', role: best }, next) ? best : next), first)
  const name = email !== undefined && NAME.test(email) ? email : subject
  if (!NAME.test(name)) throw new SignOnFailure('answer_invalid')
  return { name: `oidc:${name.slice(0, MAXIMUM_NAME_CHARACTERS)}`, role }
}
