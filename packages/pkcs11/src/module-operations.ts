import type { Attribute, Handle } from './binding.ts'
import { CK_PARAMS_EC_DH, CKA, CKD_NULL, CKK, CKM, CKO } from './constants.ts'
import { derOctetString, ED25519_PARAMETERS, P256_PARAMETERS } from './ec-parameters.ts'
import type { CallName, KeyKind, ModuleCalls } from './module-calls.ts'
import { ModuleError } from './module-error.ts'
import type { ModuleSession } from './module-session.ts'
import { MAXIMUM_LISTED_KEYS } from './pkcs11-limits.ts'

type Operations = {
  readonly [Name in CallName]: (
    session: ModuleSession,
    input: ModuleCalls[Name]['input'],
  ) => ModuleCalls[Name]['output']
}

const SIGNATURE_BYTES = 64
const SECRET_BYTES = 32

/** What the worker thread does, call by call. */
export const MODULE_OPERATIONS: Operations = {
  check(session) {
    session.find([{ type: CKA.CLASS, value: CKO.PRIVATE_KEY }], 1)
    return { hasEd25519: session.hasEd25519 }
  },

  generate(session, { kind, id, label }) {
    const { cryptoki, handle } = session.open()
    const { mechanism, parameters } = kindOf(kind)
    const { publicKey } = cryptoki.C_GenerateKeyPair(
      handle,
      { mechanism, parameter: null },
      [...publicAttributes(kind, id, label), { type: CKA.EC_PARAMS, value: parameters }],
      privateAttributes(kind, id, label),
    )
    return ecPoint(session, publicKey)
  },

  importKey(session, { kind, id, label, scalar, point }) {
    const { cryptoki, handle } = session.open()
    const { keyType, parameters } = kindOf(kind)
    const common = [
      { type: CKA.KEY_TYPE, value: keyType },
      { type: CKA.EC_PARAMS, value: parameters },
    ]
    cryptoki.C_CreateObject(handle, [
      { type: CKA.CLASS, value: CKO.PRIVATE_KEY },
      ...common,
      ...privateAttributes(kind, id, label),
      { type: CKA.VALUE, value: Buffer.from(scalar) },
    ])
    cryptoki.C_CreateObject(handle, [
      { type: CKA.CLASS, value: CKO.PUBLIC_KEY },
      ...common,
      ...publicAttributes(kind, id, label),
      { type: CKA.EC_POINT, value: derOctetString(point) },
    ])
  },

  find(session, { id }) {
    privateKey(session, id)
    const [found] = session.find(named(CKO.PUBLIC_KEY, id), 1)
    if (!found) throw new ModuleError('key_missing')
    return ecPoint(session, found)
  },

  list(session) {
    const { cryptoki, handle } = session.open()
    return session.find([{ type: CKA.CLASS, value: CKO.PRIVATE_KEY }], MAXIMUM_LISTED_KEYS).map((object) => {
      const [id, label] = cryptoki.C_GetAttributeValue(handle, object, [
        { type: CKA.ID },
        { type: CKA.LABEL },
      ])
      return { id: Uint8Array.from(id?.value ?? []), label: String(label?.value ?? '') }
    })
  },

  sign(session, { kind, id, data }) {
    const { cryptoki, handle } = session.open()
    const mechanism = kind === 'ed25519' ? CKM.EDDSA : CKM.ECDSA
    cryptoki.C_SignInit(handle, { mechanism, parameter: null }, privateKey(session, id))
    const signature = cryptoki.C_Sign(handle, Buffer.from(data), Buffer.alloc(SIGNATURE_BYTES))
    return exactly(signature, SIGNATURE_BYTES)
  },

  agree(session, { id, point }) {
    const { cryptoki, handle } = session.open()
    const parameter = {
      type: CK_PARAMS_EC_DH,
      kdf: CKD_NULL,
      sharedData: null,
      publicData: Buffer.from(point),
    }
    const derivation = { mechanism: CKM.ECDH1_DERIVE, parameter }
    // The secret opens one package; it leaves the module, and the key that made it does not.
    const secret = cryptoki.C_DeriveKey(handle, derivation, privateKey(session, id), [
      { type: CKA.CLASS, value: CKO.SECRET_KEY },
      { type: CKA.KEY_TYPE, value: CKK.GENERIC_SECRET },
      { type: CKA.TOKEN, value: false },
      { type: CKA.SENSITIVE, value: false },
      { type: CKA.EXTRACTABLE, value: true },
      { type: CKA.VALUE_LEN, value: SECRET_BYTES },
    ])
    try {
      const [value] = cryptoki.C_GetAttributeValue(handle, secret, [{ type: CKA.VALUE }])
      return exactly(value?.value ?? Buffer.alloc(0), SECRET_BYTES)
    } finally {
      cryptoki.C_DestroyObject(handle, secret)
    }
  },

  destroy(session, { id }) {
    const { cryptoki, handle } = session.open()
    session.handles.delete(hex(id))
    for (const type of [CKO.PRIVATE_KEY, CKO.PUBLIC_KEY]) {
      for (const object of session.find(named(type, id), MAXIMUM_LISTED_KEYS))
        cryptoki.C_DestroyObject(handle, object)
    }
  },
}

function privateKey(session: ModuleSession, id: Uint8Array): Handle {
  const known = session.handles.get(hex(id))
  if (known) return known
  const [found] = session.find(named(CKO.PRIVATE_KEY, id), 1)
  if (!found) throw new ModuleError('key_missing')
  session.handles.set(hex(id), found)
  return found
}

function ecPoint(session: ModuleSession, publicKey: Handle): Uint8Array {
  const { cryptoki, handle } = session.open()
  const [point] = cryptoki.C_GetAttributeValue(handle, publicKey, [{ type: CKA.EC_POINT }])
  return Uint8Array.from(point?.value ?? [])
}

function kindOf(kind: KeyKind) {
  return kind === 'ed25519'
    ? { keyType: CKK.EC_EDWARDS, mechanism: CKM.EC_EDWARDS_KEY_PAIR_GEN, parameters: ED25519_PARAMETERS }
    : { keyType: CKK.EC, mechanism: CKM.EC_KEY_PAIR_GEN, parameters: P256_PARAMETERS }
}

/** A key for one use: the module itself refuses the other. */
function privateAttributes(kind: KeyKind, id: Uint8Array, label: string): Attribute[] {
  return [
    { type: CKA.TOKEN, value: true },
    { type: CKA.PRIVATE, value: true },
    { type: CKA.SENSITIVE, value: true },
    { type: CKA.EXTRACTABLE, value: false },
    { type: CKA.ID, value: Buffer.from(id) },
    { type: CKA.LABEL, value: label },
    { type: CKA.SIGN, value: kind !== 'encryption' },
    { type: CKA.DERIVE, value: kind === 'encryption' },
  ]
}

function publicAttributes(kind: KeyKind, id: Uint8Array, label: string): Attribute[] {
  return [
    { type: CKA.TOKEN, value: true },
    { type: CKA.ID, value: Buffer.from(id) },
    { type: CKA.LABEL, value: label },
    { type: CKA.VERIFY, value: kind !== 'encryption' },
  ]
}

function named(objectClass: number, id: Uint8Array): Attribute[] {
  return [
    { type: CKA.CLASS, value: objectClass },
    { type: CKA.ID, value: Buffer.from(id) },
  ]
}

function exactly(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new ModuleError('call_refused', { returned: `${bytes.length} bytes` })
  return Uint8Array.from(bytes)
}

function hex(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
