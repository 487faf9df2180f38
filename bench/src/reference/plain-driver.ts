import type { SocketTarget } from '@agent-exchange/service/database'
import postgres from 'postgres'

/** The driver as it comes, without the service's care for connections that are lost. */
export function plainDriver(target: SocketTarget, max: number): postgres.Sql {
  const { socketDirectory, port, user, password, database } = target
  return postgres({
    path: `${socketDirectory}/.s.PGSQL.${port}`,
    user,
    password,
    database,
    max,
    onnotice: () => undefined,
    connection: { application_name: 'bench reference', TimeZone: 'UTC' },
  })
}
