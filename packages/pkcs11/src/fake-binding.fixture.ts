import { spawnSync } from 'node:child_process'
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import type { Attribute, Cryptoki, Handle, Mechanism } from './binding.ts'
import { CKA, CKM, CKO } from './constants.ts'
import { derOctetString } from './ec-parameters.ts'

/** What a test makes the module do. The module's path names the file, because the module lives in another thread. */
export interface FakeState {
  readonly pin: string
  readonly logins: number
  readonly flags?: number
  /** Every call fails with this return value. */
  readonly fails?: string
  /** No slot has a token. */
  readonly isRemoved?: boolean
  /** A signature takes until this is false. */
  readonly isHanging?: boolean
  readonly objects: readonly FakeObject[]
  readonly mechanisms?: readonly number[]
}

interface FakeObject {
  readonly id: string
  readonly label: string
  readonly isPrivate: boolean
  readonly isExtractable: boolean
  readonly der: string
}

/** Replaces the file as a whole: another thread may be reading it. */
export function writeState(file: string, state: FakeState): void {
  const next = `${file}.${threadId}`
  writeFileSync(next, JSON.stringify(state))
  renameSync(next, file)
}

const SLOT = Buffer.of(1)
const WAIT = `while grep -q '"isHanging":true' "$0"; do sleep 0.05; done`

/** A PKCS#11 module on node:crypto, loaded in place of `pkcs11js`. */
export class PKCS11 implements Partial<Cryptoki> {
  #file = ''
  #found: Handle[] = []
  #mechanism = 0
  #key: KeyObject | undefined
  #secret = Buffer.alloc(0)
  #isInitialized = false
  #session = 0

  load(path: string): void {
    if (!existsSync(path)) throw new Error(`${path}: cannot open shared object file`)
    this.#file = path
  }

  #state(): FakeState {
    return JSON.parse(readFileSync(this.#file, 'utf8')) as FakeState
  }

  #change(change: Partial<FakeState>): void {
    writeState(this.#file, { ...this.#state(), ...change })
  }

  #check(session?: Handle): FakeState {
    const state = this.#state()
    if (!this.#isInitialized) throw new Error('CKR_CRYPTOKI_NOT_INITIALIZED:400')
    if (state.fails) throw new Error(`${state.fails}:1`)
    if (session && session[0] !== this.#session) throw new Error('CKR_SESSION_HANDLE_INVALID:179')
    return state
  }

  C_Initialize(): void {
    if (this.#isInitialized) throw new Error('CKR_CRYPTOKI_ALREADY_INITIALIZED:401')
    this.#isInitialized = true
  }

  C_Finalize(): void {
    this.#isInitialized = false
  }

  C_GetSlotList(): Handle[] {
    return this.#check().isRemoved ? [] : [SLOT]
  }

  C_GetTokenInfo(): { label: string; flags: number } {
    return { label: 'aex'.padEnd(32), flags: this.#check().flags ?? 0 }
  }

  C_GetMechanismList(): number[] {
    return [...(this.#check().mechanisms ?? [CKM.ECDSA, CKM.ECDH1_DERIVE])]
  }

  C_OpenSession(): Handle {
    this.#check()
    return Buffer.of((this.#session += 1))
  }

  C_CloseSession(): void {
    this.#session += 1
  }

  C_Login(session: Handle, _: number, pin: string): void {
    const { logins, pin: right } = this.#check(session)
    this.#change({ logins: logins + 1 })
    if (pin !== right) throw new Error('CKR_PIN_INCORRECT:160')
  }

  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void {
    const { objects } = this.#check(session)
    const isPrivate = template.some(({ type, value }) => type === CKA.CLASS && value === CKO.PRIVATE_KEY)
    const id = template.find(({ type }) => type === CKA.ID)?.value as Buffer | undefined
    this.#found = objects.flatMap((object, index) =>
      object.isPrivate === isPrivate && (!id || id.toString('hex') === object.id) ? [Buffer.of(index)] : [],
    )
  }

  C_FindObjects(_: Handle, maximum: number): Handle[] {
    return this.#found.slice(0, maximum)
  }

  C_FindObjectsFinal(): void {
    this.#found = []
  }

  C_GetAttributeValue(session: Handle, object: Handle, template: readonly Attribute[]): { value: Buffer }[] {
    const { objects } = this.#check(session)
    return template.map(({ type }) => {
      if (type === CKA.VALUE) return { value: this.#secret }
      const found = objects[object[0] ?? -1]
      if (!found) throw new Error('CKR_OBJECT_HANDLE_INVALID:130')
      if (type === CKA.ID) return { value: Buffer.from(found.id, 'hex') }
      if (type === CKA.LABEL) return { value: Buffer.from(found.label) }
      const { x = '', y = '' } = createPublicKey(createPrivateKey(pem(found))).export({ format: 'jwk' })
      const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
      return { value: derOctetString(Buffer.concat(point)) }
    })
  }

  C_GenerateKeyPair(
    session: Handle,
    _: Mechanism,
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): { publicKey: Handle; privateKey: Handle } {
    const { objects } = this.#check(session)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    const made = [publicTemplate, privateTemplate].map((template, index) =>
      objectOf(template, index === 1, der),
    )
    this.#change({ objects: [...objects, ...made] })
    return { publicKey: Buffer.of(objects.length), privateKey: Buffer.of(objects.length + 1) }
  }

  C_DestroyObject(session: Handle, object: Handle): void {
    if (object.length === 0) return
    const { objects } = this.#check(session)
    // Handles are positions, so a destroyed object stays in the list under no name.
    const at = object[0] ?? -1
    this.#change({ objects: objects.map((each, index) => (index === at ? { ...each, id: '' } : each)) })
  }

  C_SignInit(session: Handle, { mechanism }: Mechanism, key: Handle): void {
    const found = this.#check(session).objects[key[0] ?? -1]
    if (!found) throw new Error('CKR_KEY_HANDLE_INVALID:96')
    this.#mechanism = mechanism
    this.#key = createPrivateKey(pem(found))
  }

  C_Sign(_: Handle, data: Buffer, into: Buffer): Buffer {
    // Nothing can interrupt this wait, as with native code.
    if (this.#state().isHanging) spawnSync('sh', ['-c', WAIT, this.#file])
    if (!this.#key || this.#mechanism !== CKM.ECDSA) throw new Error('CKR_MECHANISM_INVALID:112')
    into.set(signDigest(this.#key, data))
    return into
  }

  C_DeriveKey(session: Handle, { parameter }: Mechanism, key: Handle): Handle {
    const found = this.#check(session).objects[key[0] ?? -1]
    if (!found) throw new Error('CKR_KEY_HANDLE_INVALID:96')
    const { publicData } = parameter as { publicData: Buffer }
    const [x, y] = [publicData.subarray(1, 33), publicData.subarray(33)].map((each) =>
      each.toString('base64url'),
    )
    const publicKey = createPublicKey({
      key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' },
      format: 'jwk',
    })
    this.#secret = diffieHellman({ privateKey: createPrivateKey(pem(found)), publicKey })
    return Buffer.alloc(0)
  }
}

/** ECDSA over a digest (FIPS 186-5 section 6.4.1); node:crypto signs only messages. */
function signDigest(key: KeyObject, digest: Buffer): Buffer {
  const { d = '' } = key.export({ format: 'jwk' })
  const oneTime = createECDH('prime256v1')
  const [, ...point] = oneTime.generateKeys()
  const r = integer(Buffer.from(point.slice(0, 32))) % ORDER
  const inverse = power(integer(oneTime.getPrivateKey()), ORDER - 2n)
  const s = (inverse * (integer(digest) + r * integer(Buffer.from(d, 'base64url')))) % ORDER
  return Buffer.from([r, s].map((each) => each.toString(16).padStart(64, '0')).join(''), 'hex')
}

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

function integer(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let [square, left] = [base, exponent]; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % ORDER
    square = (square * square) % ORDER
  }
  return result
}

function objectOf(template: readonly Attribute[], isPrivate: boolean, der: string): FakeObject {
  const valueOf = (wanted: number) => template.find(({ type }) => type === wanted)?.value
  const id = valueOf(CKA.ID) as Buffer
  const isExtractable = valueOf(CKA.EXTRACTABLE) !== false || valueOf(CKA.SENSITIVE) !== true
  return { id: id.toString('hex'), label: String(valueOf(CKA.LABEL)), isPrivate, isExtractable, der }
}

function pem({ der }: FakeObject) {
  return { key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' } as const
}
