import { settingsReader, type Environment, type SettingsReader } from '@agent-exchange/server/settings'
import type { VariableName } from './variables.ts'

export type ServiceSettings = SettingsReader<VariableName>

const REMOVED_VARIABLES: Readonly<Record<string, string>> = {
  AEX_WAL_ARCHIVE:
    'The embedded database no longer archives its log. Unset it, or use a PostgreSQL of your own with archive_command.',
}

export function serviceSettings(env: Environment): ServiceSettings {
  return settingsReader(env, REMOVED_VARIABLES)
}
