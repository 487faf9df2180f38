import type { Route } from '../route.ts'
import { agentRoutes } from './agents.ts'
import { alertRoutes } from './alerts.ts'
import { clientRoutes } from './clients.ts'
import { connectorRoutes } from './connectors.ts'
import { deliveryRoutes } from './deliveries.ts'
import { endpointRoutes } from './endpoints.ts'
import { invitationRoutes } from './invitations.ts'
import { keyRoutes } from './keys.ts'
import { logRoutes } from './log.ts'
import { masterKeyRoutes } from './master-key.ts'
import { operatorRoutes } from './operators.ts'
import { organizationConsentRoutes } from './organization-consent.ts'
import { organizationEndRoutes } from './organization-end.ts'
import { organizationExportRoutes } from './organization-export.ts'
import { organizationRoutes } from './organizations.ts'
import { overviewRoutes } from './overview.ts'
import { profileRoutes } from './profile.ts'
import { packageRoutes } from './packages.ts'
import { searchRoutes } from './search.ts'
import { sessionRoutes } from './sessions.ts'
import { skillRoutes } from './skills.ts'
import { transparencyLogRoutes } from './transparency-log.ts'

/** All routes of the operator API. */
export const routes: readonly Route[] = [
  ...organizationRoutes,
  ...organizationConsentRoutes,
  ...organizationExportRoutes,
  ...organizationEndRoutes,
  ...clientRoutes,
  ...invitationRoutes,
  ...operatorRoutes,
  ...sessionRoutes,
  ...profileRoutes,
  ...overviewRoutes,
  ...connectorRoutes,
  ...skillRoutes,
  ...agentRoutes,
  ...keyRoutes,
  ...masterKeyRoutes,
  ...searchRoutes,
  ...packageRoutes,
  ...endpointRoutes,
  ...deliveryRoutes,
  ...alertRoutes,
  ...logRoutes,
  ...transparencyLogRoutes,
]
