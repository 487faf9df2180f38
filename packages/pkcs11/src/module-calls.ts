import type { ModuleErrorCode } from './module-error.ts'

export type KeyKind = 'signing' | 'encryption' | 'ed25519'

/** What the worker thread can be asked for. Keys are named by CKA_ID. */
export interface ModuleCalls {
  check: { readonly input: object; readonly output: { readonly hasEd25519: boolean } }
  generate: {
    readonly input: { readonly kind: KeyKind; readonly id: Uint8Array; readonly label: string }
    readonly output: Uint8Array
  }
  importKey: {
    readonly input: {
      readonly kind: KeyKind
      readonly id: Uint8Array
      readonly label: string
      readonly scalar: Uint8Array
      readonly point: Uint8Array
    }
    readonly output: undefined
  }
  /** CKA_EC_POINT. */
  find: { readonly input: { readonly id: Uint8Array }; readonly output: Uint8Array }
  list: {
    readonly input: object
    readonly output: readonly { readonly id: Uint8Array; readonly label: string }[]
  }
  /** ECDSA signs the digest that it is given, EdDSA the message. */
  sign: {
    readonly input: { readonly kind: KeyKind; readonly id: Uint8Array; readonly data: Uint8Array }
    readonly output: Uint8Array
  }
  agree: {
    readonly input: { readonly id: Uint8Array; readonly point: Uint8Array }
    readonly output: Uint8Array
  }
  destroy: { readonly input: { readonly id: Uint8Array }; readonly output: undefined }
}

export type CallName = keyof ModuleCalls

export interface CallRequest {
  readonly number: number
  readonly name: CallName
  readonly input: object
  /** No other thread of this process uses the module, so it may be initialized again. */
  readonly isAlone: boolean
}

/** The first message of the thread: from now on, the time of its calls counts. */
export const READY = 'ready'

export type CallReply =
  | { readonly number: number; readonly output: unknown }
  | { readonly number: number; readonly failure: CallFailure }

export interface CallFailure {
  readonly code: ModuleErrorCode
  readonly returned: string | undefined
  /** The state of the PIN file whose PIN the token refused. */
  readonly refusedPin?: string | undefined
}

export interface WorkerSettings {
  readonly module: string
  readonly token: string
  readonly pinFile: string
  readonly binding: string
  readonly refusedPin: string | undefined
}
