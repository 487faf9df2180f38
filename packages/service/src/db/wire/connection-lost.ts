/** The connection was lost, or never came about: the same may pass over another one. */
export class ConnectionLost extends Error {
  readonly code: string

  constructor(
    message: string,
    { code = 'CONNECTION_CLOSED', cause }: { code?: string; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
  }
}

/** The server's own words, and the system's, have codes by which others know them; the driver's have none. */
export function lossOr(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code !== undefined) return error
  const isLate = error instanceof Error && error.message === 'timeout expired'
  const code = isLate ? 'CONNECT_TIMEOUT' : 'CONNECTION_CLOSED'
  return new ConnectionLost('the connection to the database ended', { code, cause: error })
}
