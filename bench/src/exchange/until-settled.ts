import { until } from '@agent-exchange/testkit/until'
import { open, type DatabaseTarget } from './postgres-server.ts'

const LIMIT_MS = 60_000
const POLL_MS = 50

/** Until every webhook has been delivered and every record is in the log. */
export async function untilSettled(database: DatabaseTarget): Promise<void> {
  await using db = open(database, 1)
  const look = async () => {
    const [row] = await db<{ open: boolean }[]>`
      select exists (select from delivery where state = 'pending') or exists (select from log_pending) as open`
    return row?.open === false
  }
  await until('all webhooks are delivered and all records are in the log', look, {
    limitMs: LIMIT_MS,
    pollMs: POLL_MS,
  })
}
