import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import type { AlertKind } from '../alerts/alert-queries.ts'
import { listExpiringClients } from '../organizations/client-certificates.ts'
import { listKeyEnds } from '../overview/backlog-queries.ts'
import { listProcesses } from '../overview/process-store.ts'

/** Time to get a certificate from an authority, and to make a key that has no successor. */
export const CERTIFICATE_NOTICE_DAYS = 14
export const KEY_NOTICE_DAYS = 3
const MAXIMUM_CLIENTS = 1_000

/** Something that ends soon or has ended. */
export interface Expiring {
  readonly subject: string
  readonly kind: AlertKind
  readonly organizationId: string
  readonly expiresAt: string
  /** The beginning of a sentence. */
  readonly what: string
}

/** Certificates of the listeners, keys of the platform, and certificates of clients. */
export async function findExpiring(
  queries: Queries,
  profile: DeploymentProfile,
  now: string,
): Promise<Expiring[]> {
  const certificateLimit = secondsAfter(now, CERTIFICATE_NOTICE_DAYS * DAY_SECONDS)
  const keyLimit = secondsAfter(now, KEY_NOTICE_DAYS * DAY_SECONDS)
  const [processes, keys, clients] = await Promise.all([
    listProcesses(queries),
    listKeyEnds(queries, now),
    listExpiringClients(queries, certificateLimit, MAXIMUM_CLIENTS),
  ])
  const organizationId = profile['O-42'].organization_id
  const certificate = (subject: string, ends: readonly (string | null)[], what: string): Expiring[] => {
    const expiresAt = ends.filter((end) => end !== null).toSorted()[0]
    if (expiresAt === undefined || expiresAt > certificateLimit) return []
    return [{ subject, kind: 'certificate_expiring', organizationId, expiresAt, what }]
  }
  return [
    ...certificate(
      'certificate tls',
      processes.map(({ certificate_expires_at }) => certificate_expires_at),
      'The TLS certificate',
    ),
    ...certificate(
      'certificate client_ca',
      processes.map(({ client_ca_expires_at }) => client_ca_expires_at),
      'A certificate authority in AEX_TLS_CLIENT_CA',
    ),
    ...keys
      .filter(({ valid_until }) => valid_until <= keyLimit)
      .map(({ purpose, valid_until }): Expiring => ({
        subject: `key ${purpose}`,
        kind: 'key_expiring',
        organizationId,
        expiresAt: valid_until,
        what: `The ${purpose} key has no successor and`,
      })),
    ...clients.map(({ client_id, organization_id, certificate_expires_at }): Expiring => ({
      subject: `client ${client_id}`,
      kind: 'certificate_expiring',
      organizationId: organization_id,
      expiresAt: certificate_expires_at,
      what: `The certificate of client ${client_id}`,
    })),
  ]
}
