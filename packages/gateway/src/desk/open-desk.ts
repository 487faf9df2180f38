import type { Database } from '@agent-exchange/database'
import { createDeskApp, type DeskApp, type DeskRole } from '@agent-exchange/desk'
import type { Clock } from '@agent-exchange/server/clock'
import { deriveSecret } from '@agent-exchange/server/master-key'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { createSingleSignOn, type SignOnConfig } from '@agent-exchange/server/sign-on'
import type { SiteAddress } from '@agent-exchange/web'
import type { HostedAgents } from '../agents/hosted-agent.ts'
import { openDraftDecisions } from '../approvals/draft-decisions.ts'
import { openPasskeys } from '../approvals/passkeys.ts'
import type { ContentStore } from '../content/content-store.ts'
import { openDeskSessions } from '../people/desk-sessions.ts'
import { namesOf } from '../people/person-rows.ts'
import type { SecretBox } from '../stores/secret-box.ts'
import { MAXIMUM_LIVE_PAGES } from './desk-limits.ts'
import { delegationRoutes } from './delegations-page.ts'
import { gatewayDeskHost } from './gateway-desk-host.ts'
import { passkeyRoutes } from './passkeys-page.ts'

export interface DeskSettings {
  readonly db: Database
  readonly agents: HostedAgents
  readonly contents: ContentStore
  readonly clock: Clock
  readonly masterKey: Uint8Array
  readonly box: SecretBox
  readonly publicUrl: string
  readonly address: SiteAddress
  readonly signOn: SignOnConfig<DeskRole> | undefined
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
}

export interface GatewayDesk extends DeskApp {
  readonly tasks: readonly PeriodicTask[]
}

const CLEAN_UP_SECONDS = 3_600

/** The desk of the gateway, for the listener of the API. */
export function openDesk(settings: DeskSettings): GatewayDesk {
  const { db, agents, contents, clock, masterKey, publicUrl, address, log } = settings
  const now = () => new Date(clock.now())
  const sessions = openDeskSessions({ db, now })
  const approving = { db, publicUrl, now }
  const passkeys = openPasskeys({ ...approving, signInKey: deriveSecret(masterKey, 'passkey sign-in') })
  const host = gatewayDeskHost({
    db,
    agents,
    contents,
    sessions,
    address,
    publicUrl,
    now,
    log,
    key: deriveSecret(masterKey, 'gateway desk'),
    passkeys,
    decisions: openDraftDecisions({ ...approving, box: settings.box, namesOf: (ids) => namesOf(db, ids) }),
    routes: [...passkeyRoutes({ db, passkeys, sessions }), ...delegationRoutes({ db, now })],
    signOn: settings.signOn && createSingleSignOn(settings.signOn, () => clock.monotonicMilliseconds()),
  })
  const app = createDeskApp(host, {
    now,
    maximumLivePages: MAXIMUM_LIVE_PAGES,
    onFailure: (failure) => log.error({ failure }, 'a page of the desk failed'),
  })
  return {
    handle: app.handle,
    tasks: [
      { name: 'delete old desk sessions', everySeconds: CLEAN_UP_SECONDS, run: () => sessions.cleanUp() },
    ],
    [Symbol.dispose]: () => app[Symbol.dispose](),
  }
}
