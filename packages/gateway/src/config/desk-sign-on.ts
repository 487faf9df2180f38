import { DESK_ROLES, type DeskRole } from '@agent-exchange/desk'
import { readSignOn, roleMappingOf, type SignOnConfig } from '@agent-exchange/server/sign-on'
import type { SettingsReader } from '@agent-exchange/server/settings'
import type { VariableName } from './variables.ts'

export const parseDeskRoles = roleMappingOf(
  DESK_ROLES,
  'groups:planning=planner,leads=approver,audit=auditor,aex-admins=administrator',
)

/** Sign-in of people with the identity provider of the company. */
export const readDeskSignOn = (settings: SettingsReader<VariableName>): SignOnConfig<DeskRole> | undefined =>
  readSignOn(
    settings,
    {
      issuer: 'AEX_GATEWAY_OIDC_ISSUER',
      clientId: 'AEX_GATEWAY_OIDC_CLIENT_ID',
      clientSecretFile: 'AEX_GATEWAY_OIDC_CLIENT_SECRET_FILE',
      roles: 'AEX_GATEWAY_OIDC_ROLES',
    },
    parseDeskRoles,
  )
