import pg from 'pg'
import { ConnectionLost } from './connection-lost.ts'
import type { ConnectionOptions } from './database-address.ts'
import { sqlState } from './sql-state.ts'
import { valueTypes } from './value-types.ts'

/** For all hosts together, up to a session that can be used. */
const CONNECT_LIMIT_MS = 10_000
/** invalid_authorization_specification: as in libpq, no other host is tried after a refused login. */
const LOGIN_REFUSED = '28'

/** A session on the first host that answers and accepts the role that is asked for. */
export async function openClient(options: ConnectionOptions): Promise<pg.Client> {
  const { hosts, client } = options
  let failure: unknown
  for (const host of hosts) {
    const candidate = new pg.Client({ ...client, ...host, types: valueTypes })
    try {
      return await withinLimit(candidate, CONNECT_LIMIT_MS / hosts.length, () =>
        startSession(candidate, options),
      )
    } catch (error) {
      failure = error
      void candidate.end()
      if (sqlState(error)?.startsWith(LOGIN_REFUSED)) break
    }
  }
  throw failure
}

async function withinLimit<T>(client: pg.Client, limitMs: number, work: () => Promise<T>): Promise<T> {
  const late = new ConnectionLost('the database did not answer in time', 'CONNECT_TIMEOUT')
  const limit = setTimeout(() => client.connection.stream.destroy(late), limitMs)
  // The work reports the error. Without a listener, the event would end the process.
  client.on('error', () => undefined)
  return work().finally(() => clearTimeout(limit))
}

/** Settings are a statement, not startup parameters: PgBouncer refuses those that it does not know. */
async function startSession(client: pg.Client, { settings, role }: ConnectionOptions): Promise<pg.Client> {
  await client.connect()
  const calls = Object.keys(settings).map(
    (_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`,
  )
  const { rows } = await client.query<{ standby: boolean }>(
    `select pg_is_in_recovery() as standby, ${calls.join(', ')}`,
    Object.entries(settings).flat(),
  )
  const found = rows[0]?.standby === true ? 'standby' : 'primary'
  if (role === 'any' || role === found) return client
  throw new ConnectionLost(`the database is a ${found} and not a ${role}`, 'WRONG_SESSION_ROLE')
}
