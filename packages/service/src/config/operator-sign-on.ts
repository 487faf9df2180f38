import { isLoopback } from '@agent-exchange/server/settings'
import { readSignOn, roleMappingOf, type SignOnConfig } from '@agent-exchange/server/sign-on'
import { OPERATOR_ROLES, type OperatorRole } from '../kernel/operator-roles.ts'
import type { ServiceSettings } from './service-settings.ts'

/** Sign-in of operators with the identity provider of their company. */
export type OperatorSignOnConfig = SignOnConfig<OperatorRole>

const VARIABLES = {
  issuer: 'AEX_OPERATOR_OIDC_ISSUER',
  clientId: 'AEX_OPERATOR_OIDC_CLIENT_ID',
  clientSecretFile: 'AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE',
  roles: 'AEX_OPERATOR_OIDC_ROLES',
} as const

export const parseRoles = roleMappingOf(
  OPERATOR_ROLES,
  'groups:aex-admins=administrator,aex-ops=operator,*=viewer',
)

export function readOperatorSignOn(settings: ServiceSettings): OperatorSignOnConfig | undefined {
  const { value, reject } = settings
  const config = readSignOn(settings, VARIABLES, parseRoles)
  const isAnySet = Object.values(VARIABLES).some((name) => value(name))
  if (
    isAnySet &&
    !value('AEX_OPERATOR_PUBLIC_URL') &&
    !isLoopback(value('AEX_OPERATOR_HOST') ?? '127.0.0.1')
  ) {
    const why = 'the identity provider sends browsers back to it'
    reject('AEX_OPERATOR_PUBLIC_URL', `Set it together with AEX_OPERATOR_OIDC_ISSUER: ${why}.`)
  }
  return config
}
