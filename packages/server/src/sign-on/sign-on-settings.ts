import { parseIssuer } from '../settings/urls.ts'
import { readNamedFile, SettingError, type SettingsReader } from '../settings/settings-reader.ts'
import type { RoleMapping } from './role-mapping.ts'

/** Sign-in of people with the identity provider of their company (OpenID Connect). */
export interface SignOnConfig<Role extends string> {
  readonly issuer: string
  readonly clientId: string
  /** Undefined: a public client, protected by PKCE alone. */
  readonly clientSecret: string | undefined
  readonly roles: RoleMapping<Role>
}

export interface SignOnVariables<Name extends string> {
  readonly issuer: Name
  readonly clientId: Name
  readonly clientSecretFile: Name
  readonly roles: Name
}

/** A half-set group is an error, because sign-in would fail only when somebody tries it. */
export function readSignOn<Name extends string, Role extends string>(
  { checked, value, reject }: SettingsReader<Name>,
  names: SignOnVariables<Name>,
  parseRoles: (text: string) => RoleMapping<Role>,
): SignOnConfig<Role> | undefined {
  const issuer = checked(names.issuer, parseIssuer)
  const clientId = value(names.clientId)
  const clientSecret = checked(names.clientSecretFile, readSecret)
  const roles = checked(names.roles, parseRoles)
  const needed = [names.issuer, names.clientId, names.roles]
  if (![...needed, names.clientSecretFile].some((name) => value(name))) return undefined
  const others = names.issuer.replace(/_ISSUER$/u, '')
  for (const name of needed)
    if (!value(name)) reject(name, `Set it together with the other ${others} variables.`)
  if (issuer === undefined || clientId === undefined || roles === undefined) return undefined
  return { issuer, clientId, clientSecret, roles }
}

function readSecret(path: string): string {
  const secret = readNamedFile(path).trim()
  if (secret === '') throw new SettingError(`The file ${path} is empty.`)
  return secret
}
