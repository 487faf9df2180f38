import { ConfigError, DatabaseFailure } from '@agent-exchange/gateway'
import { ExchangeError } from '@agent-exchange/sdk'
import { explanationOf } from '../../agent/agent-failure.ts'
import type { Place } from '../../agent/next-step.ts'
import { CommandFailure } from '../../failure.ts'

/** Whatever kept a command of the gateway from its work, as a sentence that names the setting where one is to blame. */
export function gatewayFailure(error: unknown, place: Place = {}): Error {
  if (error instanceof CommandFailure) return error
  if (error instanceof ExchangeError) return new CommandFailure(explanationOf(error, place))
  if (error instanceof ConfigError) {
    const lines = error.settings.map(({ variable, message }) => `  ${variable}: ${message}`)
    return new CommandFailure(`The gateway cannot start with these settings:\n${lines.join('\n')}`)
  }
  if (error instanceof DatabaseFailure) return new CommandFailure(error.message)
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && 'syscall' in error && error.syscall === 'listen')
    return new CommandFailure(
      `${message}. Set AEX_GATEWAY_HOST, AEX_GATEWAY_PORT, AEX_GATEWAY_ADMIN_PORT or AEX_GATEWAY_WEBHOOK_PORT.`,
    )
  const isConnection = error instanceof Error && 'syscall' in error && error.syscall === 'connect'
  if (isConnection)
    return new CommandFailure(`The database of AEX_GATEWAY_DATABASE_URL cannot be used: ${message}.`)
  return new CommandFailure(message)
}
