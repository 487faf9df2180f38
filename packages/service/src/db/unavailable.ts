import { sqlState } from './sql-state.ts'

/** Our own and the system's words for a server that cannot be reached, or has just gone. */
const CONNECTION_CODES = new Set([
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

/** Whether the database was away rather than wrong: the same request may pass in a moment. */
export function isUnavailable(error: unknown): boolean {
  const code = sqlState(error) ?? ''
  return CONNECTION_CODES.has(code) || SERVER_CLASSES.some((prefix) => code.startsWith(prefix))
}
