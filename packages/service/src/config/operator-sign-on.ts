import { OPERATOR_ROLES, type OperatorRole } from '../kernel/operator-roles.ts'
import { isLoopback, readNamedFile, SettingError, parseIssuer } from '@agent-exchange/server/settings'
import type { ServiceSettings } from './service-settings.ts'

/** Sign-in of operators with the identity provider of their company (OpenID Connect). */
export interface OperatorSignOnConfig {
  readonly issuer: string
  readonly clientId: string
  /** Undefined: a public client, protected by PKCE alone. */
  readonly clientSecret: string | undefined
  readonly roles: RoleMapping
}

export interface RoleMapping {
  /** Claim with the groups; dots lead into objects, such as realm_access.roles. */
  readonly claim: string
  readonly groups: readonly { readonly group: string; readonly role: OperatorRole }[]
}

const MAPPING = /^([\w.-]{1,128}):(.+)$/u
const MAXIMUM_GROUPS = 100

/** A half-set group is an error, because sign-in would fail only when somebody tries it. */
export function readOperatorSignOn(settings: ServiceSettings): OperatorSignOnConfig | undefined {
  const { checked, value, reject } = settings
  const issuer = checked('AEX_OPERATOR_OIDC_ISSUER', parseIssuer)
  const clientId = value('AEX_OPERATOR_OIDC_CLIENT_ID')
  const clientSecret = checked('AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE', readSecret)
  const roles = checked('AEX_OPERATOR_OIDC_ROLES', parseRoles)
  const names = [
    'AEX_OPERATOR_OIDC_ISSUER',
    'AEX_OPERATOR_OIDC_CLIENT_ID',
    'AEX_OPERATOR_OIDC_ROLES',
  ] as const
  const isAnySet = [...names, 'AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE' as const].some((name) => value(name))
  if (!isAnySet) return undefined
  for (const name of names) {
    if (!value(name)) reject(name, `Set it together with the other AEX_OPERATOR_OIDC variables.`)
  }
  const host = value('AEX_OPERATOR_HOST') ?? '127.0.0.1'
  if (!value('AEX_OPERATOR_PUBLIC_URL') && !isLoopback(host)) {
    const why = 'the identity provider sends browsers back to it'
    reject('AEX_OPERATOR_PUBLIC_URL', `Set it together with AEX_OPERATOR_OIDC_ISSUER: ${why}.`)
  }
  if (issuer === undefined || clientId === undefined || roles === undefined) return undefined
  return { issuer, clientId, clientSecret, roles }
}

function readSecret(path: string): string {
  const secret = readNamedFile(path).trim()
  if (secret === '') throw new SettingError(`The file ${path} is empty.`)
  return secret
}

/** CLAIM:GROUP=ROLE,GROUP=ROLE; the group * is everybody. */
export function parseRoles(text: string): RoleMapping {
  const [, claim = '', list = ''] = MAPPING.exec(text) ?? []
  const groups = list.split(',').map((entry) => {
    const at = entry.lastIndexOf('=')
    const role = OPERATOR_ROLES.find((each) => each === entry.slice(at + 1).trim())
    return { group: entry.slice(0, Math.max(0, at)).trim(), role }
  })
  const known = groups.flatMap(({ group, role }) => (role && group !== '' ? [{ group, role }] : []))
  if (claim === '' || known.length !== groups.length || known.length > MAXIMUM_GROUPS) {
    throw new SettingError(
      'Use CLAIM:GROUP=ROLE,GROUP=ROLE such as groups:aex-admins=administrator,aex-ops=operator,*=viewer. ' +
        `Roles are ${OPERATOR_ROLES.join(', ')}; * is everybody whom the provider signs in.`,
    )
  }
  return { claim, groups: known }
}
