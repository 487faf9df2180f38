import type { DatabaseTarget } from '../exchange/postgres-server.ts'
import postgres from 'postgres'

/** The driver without the handling of lost connections in the service. */
export function plainDriver(target: DatabaseTarget, max: number): postgres.Sql {
  return postgres({
    ...target,
    max,
    onnotice: () => undefined,
    connection: { application_name: 'bench reference', TimeZone: 'UTC' },
  })
}
