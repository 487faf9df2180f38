/** No connection to the database: the same request may succeed over another one. */
export class ConnectionLost extends Error {
  readonly code: string

  constructor(message: string, code = 'CONNECTION_CLOSED', options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Errors of PostgreSQL and of the operating system have a code; those that the driver makes itself have none. */
export function lossOr(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code !== undefined) return error
  return new ConnectionLost('the connection to the database ended', undefined, { cause: error })
}
