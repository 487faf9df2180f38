import type { ConsolePage } from './console-page.ts'
import { agentsPages } from './agents/pages.ts'
import { alertsPages } from './alerts/pages.ts'
import { backupPages } from './backup/pages.ts'
import { deliveriesPages } from './deliveries/pages.ts'
import { endpointsPages } from './endpoints/pages.ts'
import { invitationsPages } from './invitations/pages.ts'
import { keysPages } from './keys/pages.ts'
import { logPages } from './log/pages.ts'
import { openPointsPages } from './open-points/pages.ts'
import { operatorLogPages } from './operator-log/pages.ts'
import { operatorsPages } from './operators/pages.ts'
import { organizationsPages } from './organizations/pages.ts'
import { overviewPages } from './overview/pages.ts'
import { packagesPages } from './packages/pages.ts'
import { searchPages } from './search/pages.ts'
import { sessionsPages } from './sessions/pages.ts'
import { settingsPages } from './settings/pages.ts'
import { skillsPages } from './skills/pages.ts'

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
