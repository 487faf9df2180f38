import { ModuleError, type ModuleErrorCode } from './module-error.ts'

const PIN_CODES: Readonly<Record<string, ModuleErrorCode>> = {
  CKR_PIN_INCORRECT: 'pin_refused',
  CKR_PIN_INVALID: 'pin_refused',
  CKR_PIN_LEN_RANGE: 'pin_refused',
  CKR_PIN_EXPIRED: 'pin_refused',
  CKR_PIN_LOCKED: 'pin_locked',
}

/** The module, the token or the session is gone. The session is opened again before the next call. */
const LOST = new Set([
  'CKR_CRYPTOKI_NOT_INITIALIZED',
  'CKR_DEVICE_ERROR',
  'CKR_DEVICE_MEMORY',
  'CKR_DEVICE_REMOVED',
  'CKR_FUNCTION_FAILED',
  'CKR_GENERAL_ERROR',
  'CKR_HOST_MEMORY',
  'CKR_KEY_HANDLE_INVALID',
  'CKR_OBJECT_HANDLE_INVALID',
  'CKR_SESSION_CLOSED',
  'CKR_SESSION_COUNT',
  'CKR_SESSION_HANDLE_INVALID',
  'CKR_SLOT_ID_INVALID',
  'CKR_TOKEN_NOT_PRESENT',
  'CKR_TOKEN_NOT_RECOGNIZED',
  'CKR_USER_NOT_LOGGED_IN',
])

const RETURN_VALUE = /\bCKR_[A-Z0-9_]+/u

/** The name of the return value, which the binding puts into the message. */
export function returnedBy(error: unknown): string | undefined {
  return error instanceof Error ? RETURN_VALUE.exec(error.message)?.[0] : undefined
}

/** The text of other errors is left out: nobody knows what a driver writes there. */
export function toModuleError(error: unknown): ModuleError {
  if (error instanceof ModuleError) return error
  const returned = returnedBy(error)
  if (returned === undefined) return new ModuleError('module_unavailable', { cause: error })
  const code = PIN_CODES[returned] ?? (LOST.has(returned) ? 'module_unavailable' : 'call_refused')
  return new ModuleError(code, { returned, cause: error })
}
