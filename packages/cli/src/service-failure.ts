import { ConfigError, readConfig, type Config } from '@agent-exchange/service/config'
import { DatabaseFailure } from '@agent-exchange/service/migrations'
import { CommandFailure } from './failure.ts'

/** The configuration, or its faults as sentences. */
export function configOf(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env)
  } catch (error) {
    throw asFailure(error)
  }
}

const CONNECTION_FAILURES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'CONNECT_TIMEOUT',
  'ETIMEDOUT',
  'EAI_AGAIN',
])

/** Whatever kept the service from starting, as a sentence that names the setting where one is to blame. */
export function asFailure(
  error: unknown,
  config?: Pick<Config, 'databaseUrl' | 'dataDirectory'>,
): CommandFailure {
  if (error instanceof ConfigError) {
    const lines = error.settings.map(({ variable, message }) => `  ${variable}: ${message}`)
    return new CommandFailure(`The service cannot start with these settings:\n${lines.join('\n')}`)
  }
  if (error instanceof CommandFailure) return error
  if (error instanceof DatabaseFailure) return new CommandFailure(error.message)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && 'syscall' in error && error.syscall === 'listen') {
    return new CommandFailure(
      `${message}. Set AEX_HOST, AEX_PORT or AEX_OPERATOR_PORT to a free port or address.`,
    )
  }
  if (config && ['EACCES', 'EROFS', 'ENOSPC', 'EPERM'].includes(code)) {
    return new CommandFailure(
      `The data folder ${config.dataDirectory} cannot be used: ${message}. ` +
        'Set AEX_DATA_DIR to a folder that this user may write to.',
    )
  }
  // 28: the server refuses who we are. 3D: it has no such database.
  if (config?.databaseUrl && (CONNECTION_FAILURES.has(code) || /^(?:28|3D)/u.test(code))) {
    return new CommandFailure(`The database of DATABASE_URL cannot be used: ${message}.`)
  }
  return new CommandFailure(`The service could not start: ${message}`)
}
