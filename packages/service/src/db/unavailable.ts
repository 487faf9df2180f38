import { sqlState } from './sql-state.ts'

/** Codes of our own and of the operating system: no connection to the server, or none that is free. */
const CONNECTION_CODES = new Set([
  'POOL_QUEUE_FULL',
  'POOL_TIMEOUT',
  'WRONG_SESSION_ROLE',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/**
 * SQLSTATE classes: connection exceptions, refused credentials, no such database, insufficient resources, operator
 * intervention (shutdown, recovery).
 */
const SERVER_CLASSES = ['08', '28', '3D000', '53', '57P']

/** Whether the database could not be used at all: the same request may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  const code = sqlState(error) ?? ''
  return CONNECTION_CODES.has(code) || SERVER_CLASSES.some((prefix) => code.startsWith(prefix))
}
