/** The release of the binding that this package is tested with. */
const BINDING = 'pkcs11js@2.1.7'

/** Every error of this package, with its remedy. No message contains a PIN or a key. */
const SENTENCES = {
  binding_missing: `The package pkcs11js is not installed. Run \`npm install ${BINDING}\` beside this program; it compiles a native addon and needs Python and a C++ compiler.`,
  module_not_loaded:
    'The PKCS#11 module cannot be loaded. Check the path of the library, and that it fits this machine.',
  token_missing: 'The module shows no token with this label. Check the label, and that the device is there.',
  pin_unreadable: 'The PIN file cannot be read. Check its path, and that this user may read it.',
  pin_refused:
    'The token refuses the PIN. Correct the PIN file. It is not tried again until the file changes, so that the token is not locked.',
  pin_last_try:
    'The token would be locked by one more wrong PIN, so none was tried. Log in once with a tool of the token, then try again.',
  pin_locked: 'The PIN of the token is locked. Reset it as the security officer of the token.',
  module_unavailable:
    'The module does not work now. Check the device and its connection; it is used again when it answers.',
  module_timeout:
    'The module did not answer in time. Check the device and its connection; it is used again when it answers.',
  module_busy: 'Too many calls wait for the module. Try again in a moment, or use a faster one.',
  module_closed: 'The module was closed.',
  key_missing: 'The token has no such key. Check that it is the token in which the key was made.',
  call_refused: 'The module refused the call. Check that it supports the mechanism and these attributes.',
} as const

export type ModuleErrorCode = keyof typeof SENTENCES

export const MODULE_ERROR_CODES = Object.keys(SENTENCES) as readonly ModuleErrorCode[]

/** The module does not work now, and may later without anybody changing a setting. */
const AWAY: ReadonlySet<ModuleErrorCode> = new Set([
  'token_missing',
  'module_unavailable',
  'module_timeout',
  'module_busy',
])

/** The error class of this package. Match on `code`; the message is for people. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError'
  readonly code: ModuleErrorCode
  /** The return value of the module, such as CKR_DEVICE_REMOVED. */
  readonly returned: string | undefined
  readonly retryable: boolean

  constructor(
    code: ModuleErrorCode,
    { returned, cause }: { returned?: string | undefined; cause?: unknown } = {},
  ) {
    super(
      returned === undefined ? SENTENCES[code] : `${SENTENCES[code]} (${returned})`,
      cause === undefined ? {} : { cause },
    )
    this.code = code
    this.returned = returned
    this.retryable = AWAY.has(code)
  }
}

/** Whether this error, or one that it was caused by, says that the module does not work now. */
export function isModuleAway(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ModuleError) return each.retryable
  }
  return false
}
