import type { ErrorClass } from './classify-attempt.ts'
import { MAXIMUM_ERROR_CHARACTERS } from './webhook-limits.ts'

/** A failed connection, with its error class and the remote address if known. */
export class ConnectionFailure extends Error {
  readonly code = 'CONNECTION_FAILURE'
  readonly errorClass: ErrorClass
  readonly address: string | undefined

  constructor(errorClass: ErrorClass, message: string, address?: string) {
    super(message)
    this.errorClass = errorClass
    this.address = address
  }
}

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_DESTROYED: 'reset',
  UND_ERR_CLOSED: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
}
const TLS_CODES = /^(?:ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$)/

/** Unknown errors count as protocol errors of the receiver. */
export function errorClassOf(error: unknown): ErrorClass {
  if (error instanceof ConnectionFailure) return error.errorClass
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return CLASSES[code] ?? (TLS_CODES.test(code) ? 'tls' : 'protocol')
}

/** One line for an operator: the code and the message, without control characters. */
export function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code =
    error instanceof Error && 'code' in error && !(error instanceof ConnectionFailure)
      ? `${String(error.code)}: `
      : ''
  // oxlint-disable-next-line no-control-regex
  return `${code}${message}`.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, MAXIMUM_ERROR_CHARACTERS)
}
