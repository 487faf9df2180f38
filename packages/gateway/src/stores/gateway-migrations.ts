import { readMigrations, type Migration } from '@agent-exchange/database/migrations'

/** The migrations of the gateway, in their order. */
export function readGatewayMigrations(): readonly Migration[] {
  return readMigrations(new URL('../../migrations/', import.meta.url))
}
