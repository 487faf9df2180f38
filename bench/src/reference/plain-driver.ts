import type { DatabaseTarget } from '../exchange/postgres-server.ts'
import postgres from 'postgres'

/** The driver as it comes, without the service's care for connections that are lost. */
export function plainDriver(target: DatabaseTarget, max: number): postgres.Sql {
  return postgres({
    ...target,
    max,
    onnotice: () => undefined,
    connection: { application_name: 'bench reference', TimeZone: 'UTC' },
  })
}
