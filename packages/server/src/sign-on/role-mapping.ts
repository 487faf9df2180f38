import { SettingError } from '../settings/settings-reader.ts'

export interface RoleMapping<Role extends string> {
  /** Claim with the groups; dots lead into objects, such as realm_access.roles. */
  readonly claim: string
  readonly groups: readonly { readonly group: string; readonly role: Role }[]
}

const MAPPING = /^([\w.-]{1,128}):(.+)$/u
const MAXIMUM_GROUPS = 100

/** Reads CLAIM:GROUP=ROLE,GROUP=ROLE; the group * is everybody. */
export function roleMappingOf<Role extends string>(roles: readonly Role[], example: string) {
  return (text: string): RoleMapping<Role> => {
    const [, claim = '', list = ''] = MAPPING.exec(text) ?? []
    const groups = list.split(',').map((entry) => {
      const at = entry.lastIndexOf('=')
      const role = roles.find((each) => each === entry.slice(at + 1).trim())
      return { group: entry.slice(0, Math.max(0, at)).trim(), role }
    })
    const known = groups.flatMap(({ group, role }) => (role && group !== '' ? [{ group, role }] : []))
    if (claim === '' || known.length !== groups.length || known.length > MAXIMUM_GROUPS) {
      throw new SettingError(
        `Use CLAIM:GROUP=ROLE,GROUP=ROLE such as ${example}. ` +
          `Roles are ${roles.join(', ')}; * is everybody whom the provider signs in.`,
      )
    }
    return { claim, groups: known }
  }
}
