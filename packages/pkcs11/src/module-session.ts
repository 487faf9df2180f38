import { readFileSync, statSync } from 'node:fs'
import type { Attribute, Cryptoki, Handle } from './binding.ts'
import { loadBinding } from './binding.ts'
import { CKF, CKM, CKU_USER } from './constants.ts'
import type { WorkerSettings } from './module-calls.ts'
import { ModuleError } from './module-error.ts'
import { MAXIMUM_PIN_BYTES } from './pkcs11-limits.ts'
import { returnedBy, toModuleError } from './return-values.ts'

/** A session with one token, logged in as its user. It opens on demand, and again after it was lost. */
export class ModuleSession {
  readonly #settings: WorkerSettings
  #cryptoki: Cryptoki | undefined
  #open: { readonly handle: Handle; readonly mechanisms: ReadonlySet<number> } | undefined
  /** Private keys by CKA_ID in hex. Handles end with the session. */
  readonly handles = new Map<string, Handle>()
  refusedPin: string | undefined

  constructor(settings: WorkerSettings) {
    this.#settings = settings
    this.refusedPin = settings.refusedPin
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** @throws {ModuleError} if the token is not there or refuses the PIN */
  open(): { cryptoki: Cryptoki; handle: Handle; mechanisms: ReadonlySet<number> } {
    const cryptoki = (this.#cryptoki ??= this.#load())
    this.#open ??= this.#logIn(cryptoki)
    return { cryptoki, ...this.#open }
  }

  /** Ends what is left of a session. A module finds tokens that come back only if it is initialized again. */
  close(isAlone: boolean): void {
    const cryptoki = this.#cryptoki
    const session = this.#open?.handle
    this.#open = undefined
    this.handles.clear()
    if (session) ignoringErrors(() => cryptoki?.C_CloseSession(session))
    // PKCS#11 leaves undefined what happens to calls of other threads.
    if (isAlone) ignoringErrors(() => cryptoki?.C_Finalize())
  }

  find(template: readonly Attribute[], maximum: number): Handle[] {
    const { cryptoki, handle } = this.open()
    cryptoki.C_FindObjectsInit(handle, template)
    try {
      return cryptoki.C_FindObjects(handle, maximum)
    } finally {
      cryptoki.C_FindObjectsFinal(handle)
    }
  }

  #load(): Cryptoki {
    const cryptoki = loadBinding(this.#settings.binding)
    try {
      cryptoki.load(this.#settings.module)
    } catch (cause) {
      throw new ModuleError('module_not_loaded', { cause })
    }
    return cryptoki
  }

  #logIn(cryptoki: Cryptoki): { handle: Handle; mechanisms: ReadonlySet<number> } {
    unless('CKR_CRYPTOKI_ALREADY_INITIALIZED', () => cryptoki.C_Initialize({ flags: CKF.OS_LOCKING_OK }))
    const slot = cryptoki
      .C_GetSlotList(true)
      .find((each) => cryptoki.C_GetTokenInfo(each).label.trim() === this.#settings.token)
    if (!slot) {
      // A module may look for tokens only when it is initialized.
      throw new ModuleError('token_missing')
    }
    const { flags } = cryptoki.C_GetTokenInfo(slot)
    if (flags & CKF.USER_PIN_LOCKED) throw new ModuleError('pin_locked')
    const pin = this.#readPin()
    if (pin.state === this.refusedPin) throw new ModuleError('pin_refused')
    // A service that is restarted again and again must not use up the last try.
    if (flags & CKF.USER_PIN_FINAL_TRY) throw new ModuleError('pin_last_try')
    const handle = cryptoki.C_OpenSession(slot, CKF.SERIAL_SESSION | CKF.RW_SESSION)
    try {
      unless('CKR_USER_ALREADY_LOGGED_IN', () => cryptoki.C_Login(handle, CKU_USER, pin.text))
    } catch (error) {
      ignoringErrors(() => cryptoki.C_CloseSession(handle))
      const failure = toModuleError(error)
      if (failure.code === 'pin_refused') this.refusedPin = pin.state
      throw failure
    }
    return { handle, mechanisms: new Set(cryptoki.C_GetMechanismList(slot)) }
  }

  #readPin(): { text: string; state: string } {
    const { pinFile } = this.#settings
    try {
      const { mtimeMs, size, ino } = statSync(pinFile)
      if (size > MAXIMUM_PIN_BYTES) throw new Error('The file is too large for a PIN.')
      return {
        text: readFileSync(pinFile, 'utf8').replace(/\r?\n$/u, ''),
        state: `${ino} ${mtimeMs} ${size}`,
      }
    } catch (cause) {
      throw new ModuleError('pin_unreadable', { cause })
    }
  }

  get hasEd25519(): boolean {
    const { mechanisms } = this.open()
    return mechanisms.has(CKM.EDDSA) && mechanisms.has(CKM.EC_EDWARDS_KEY_PAIR_GEN)
  }
}

function unless(expected: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (returnedBy(error) !== expected) throw error
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work()
  } catch {
    // The session is given up in any case.
  }
}
