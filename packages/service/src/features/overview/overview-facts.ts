import { type Database, readReplication } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import type { Context } from '../../kernel/context.ts'
import { CERTIFICATE_NOTICE_DAYS } from '../expiry/find-expiring.ts'
import { listExpiringClients } from '../organizations/client-certificates.ts'
import { readLogStatus } from '../transparency-log/log-status.ts'
import { toSeries, type ActivityPoint } from './activity-series.ts'
import { sumActivity } from './activity-store.ts'
import {
  countEndedBadly,
  listDisabledEndpoints,
  listFailingEndpoints,
  listKeyEnds,
  readBacklog,
  readDatabaseSize,
} from './backlog-queries.ts'
import { listProcesses } from './process-store.ts'

const HOUR_STEP_SECONDS = 120
const HOUR_POINTS = 30
const DAY_STEP_SECONDS = 1_800
const DAY_POINTS = 48
const MAXIMUM_EXPIRING_CLIENTS = 20

export type Facts = Awaited<ReturnType<typeof readFacts>>

/** What an overview shows and judges, read at one time. */
export async function readFacts(
  db: Database,
  { profile, hasSeveralDatabaseHosts }: Pick<Context, 'profile' | 'hasSeveralDatabaseHosts'>,
  now: string,
) {
  const expiringBefore = secondsAfter(now, CERTIFICATE_NOTICE_DAYS * DAY_SECONDS)
  const [
    hour,
    day,
    backlog,
    ended_badly,
    disabled_endpoints,
    failing_endpoints,
    keys,
    expiring_clients,
    database_bytes,
    log,
    processes,
    replication,
  ] = await Promise.all([
    readSeries(db, now, HOUR_STEP_SECONDS, HOUR_POINTS),
    readSeries(db, now, DAY_STEP_SECONDS, DAY_POINTS),
    readBacklog(db, now),
    countEndedBadly(db, secondsAfter(now, -DAY_SECONDS)),
    listDisabledEndpoints(db),
    listFailingEndpoints(db),
    listKeyEnds(db, now),
    listExpiringClients(db, expiringBefore, MAXIMUM_EXPIRING_CLIENTS),
    readDatabaseSize(db),
    readLogStatus(db, profile),
    listProcesses(db),
    readReplication(db),
  ])
  return {
    now,
    processes,
    backlog,
    dead_letters: ended_badly.dead,
    failed_deliveries: ended_badly.failed,
    dead_letter_owners: ended_badly.dead_owners,
    failed_delivery_owners: ended_badly.failed_owners,
    disabled_endpoints,
    failing_endpoints,
    keys,
    expiring_clients,
    database_bytes,
    replication,
    has_several_database_hosts: hasSeveralDatabaseHosts,
    log,
    hour,
    day,
  }
}

/** Steps begin at multiples of their length, so that a point does not change its meaning from look to look. */
async function readSeries(
  db: Database,
  now: string,
  stepSeconds: number,
  points: number,
): Promise<ActivityPoint[]> {
  const current = Math.floor(Date.parse(now) / 1_000 / stepSeconds) * stepSeconds
  const since = new Date((current - (points - 1) * stepSeconds) * 1_000).toISOString()
  return toSeries(await sumActivity(db, { since, stepSeconds }), { since, stepSeconds, points })
}
