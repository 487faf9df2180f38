import { resolve } from 'node:path'
import { ConfigError, parseDatabaseUrl, type Environment } from '@agent-exchange/server/settings'
import type { Config } from './config.ts'
import { serviceSettings } from './service-settings.ts'
import { defaultOf } from './variables.ts'

/** Where the database is: all that a command needs that touches nothing else, such as a migration. */
export type DatabasePlace = Pick<Config, 'databaseUrl' | 'dataDirectory'>

/** @throws {ConfigError} with every invalid setting */
export function readDatabasePlace(env: Environment): DatabasePlace {
  const { checked, value, wrong } = serviceSettings(env)
  const databaseUrl = checked('DATABASE_URL', parseDatabaseUrl)
  if (wrong.length > 0) throw new ConfigError(wrong)
  return { databaseUrl, dataDirectory: resolve(value('AEX_DATA_DIR') ?? defaultOf('AEX_DATA_DIR')) }
}
