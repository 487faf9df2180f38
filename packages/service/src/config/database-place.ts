import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import type { Config } from './config.ts'
import { settingsReader } from './settings-reader.ts'
import { parseDatabaseUrl } from './urls.ts'
import { defaultOf, type Environment } from './variables.ts'

/** Where the database is: all that a command needs that touches nothing else, such as a migration. */
export type DatabasePlace = Pick<Config, 'databaseUrl' | 'dataDirectory'>

/** @throws {ConfigError} with every invalid setting */
export function readDatabasePlace(env: Environment): DatabasePlace {
  const { checked, value, wrong } = settingsReader(env)
  const databaseUrl = checked('DATABASE_URL', parseDatabaseUrl)
  if (wrong.length > 0) throw new ConfigError(wrong)
  return { databaseUrl, dataDirectory: resolve(value('AEX_DATA_DIR') ?? defaultOf('AEX_DATA_DIR')) }
}
