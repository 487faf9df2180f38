import { createRequire } from 'node:module'
import { ModuleError } from './module-error.ts'

export type Handle = Buffer

export interface Attribute {
  readonly type: number
  readonly value?: Buffer | number | boolean | string
}

export interface Mechanism {
  readonly mechanism: number
  readonly parameter: object | Buffer | null
}

/** The part of `pkcs11js` that this package calls. Each function throws an error with the name of the return value. */
export interface Cryptoki {
  load(path: string): void
  C_Initialize(settings: { readonly flags: number }): void
  C_Finalize(): void
  C_GetSlotList(tokenPresent: boolean): Handle[]
  C_GetTokenInfo(slot: Handle): { readonly label: string; readonly flags: number }
  C_GetMechanismList(slot: Handle): number[]
  C_OpenSession(slot: Handle, flags: number): Handle
  C_CloseSession(session: Handle): void
  C_Login(session: Handle, userType: number, pin: string): void
  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void
  C_FindObjects(session: Handle, maximum: number): Handle[]
  C_FindObjectsFinal(session: Handle): void
  C_GetAttributeValue(
    session: Handle,
    object: Handle,
    template: readonly Attribute[],
  ): { readonly value: Buffer }[]
  C_GenerateKeyPair(
    session: Handle,
    mechanism: Mechanism,
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): { readonly publicKey: Handle; readonly privateKey: Handle }
  C_CreateObject(session: Handle, template: readonly Attribute[]): Handle
  C_DestroyObject(session: Handle, object: Handle): void
  C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void
  C_Sign(session: Handle, data: Buffer, into: Buffer): Buffer
  C_DeriveKey(session: Handle, mechanism: Mechanism, key: Handle, template: readonly Attribute[]): Handle
}

/**
 * Loads the binding by name, as `require` finds it: beside this package, in a folder above it, or in NODE_PATH. Tests
 * name another file.
 */
export function loadBinding(name: string): Cryptoki {
  try {
    const { PKCS11 } = createRequire(import.meta.url)(name) as { PKCS11: new () => Cryptoki }
    return new PKCS11()
  } catch (cause) {
    throw new ModuleError('binding_missing', { cause })
  }
}
