import type { ConsolePage } from './console-page.ts'
import { agentsPages } from './agents/agent-pages.ts'
import { alertsPages } from './alerts/alert-pages.ts'
import { backupPages } from './backup/backup-pages.ts'
import { deliveriesPages } from './deliveries/delivery-pages.ts'
import { endpointsPages } from './endpoints/endpoint-pages.ts'
import { invitationsPages } from './invitations/invitation-pages.ts'
import { keysPages } from './keys/key-pages.ts'
import { logPages } from './log/log-pages.ts'
import { openPointsPages } from './open-points/open-point-pages.ts'
import { operatorLogPages } from './operator-log/operator-log-pages.ts'
import { operatorsPages } from './operators/operator-pages.ts'
import { organizationsPages } from './organizations/organization-pages.ts'
import { overviewPages } from './overview/overview-pages.ts'
import { packagesPages } from './packages/package-pages.ts'
import { searchPages } from './search/search-pages.ts'
import { sessionsPages } from './sessions/session-pages.ts'
import { settingsPages } from './settings/settings-pages.ts'
import { skillsPages } from './skills/skill-pages.ts'

/** All pages of the console, area by area. */
export const pages: readonly ConsolePage[] = [
  ...overviewPages,
  ...searchPages,
  ...packagesPages,
  ...deliveriesPages,
  ...endpointsPages,
  ...alertsPages,
  ...organizationsPages,
  ...invitationsPages,
  ...agentsPages,
  ...skillsPages,
  ...keysPages,
  ...logPages,
  ...backupPages,
  ...openPointsPages,
  ...settingsPages,
  ...operatorsPages,
  ...sessionsPages,
  ...operatorLogPages,
]
