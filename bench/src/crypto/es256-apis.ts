import * as nodeCrypto from 'node:crypto'
import type { Area, AreaContext, AreaResult, Figure } from '../area.ts'
import { effortOf, measure } from './measure.ts'

/** Compares the ES256 APIs of Node; `primitives-node.ts` uses the fastest. */
export const es256ApisArea: Area = {
  name: 'es256-apis',
  what: 'the APIs of Node for ES256 signatures',
  isLong: true,
  run,
}

const WEB = { name: 'ECDSA', hash: 'SHA-256' }
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }
type Way = readonly [id: string, label: string, call: () => unknown]

async function run({ quick, progress }: AreaContext): Promise<AreaResult> {
  const figures: Figure[] = []
  for (const group of await ways()) {
    for (const inFlight of [1, 64]) {
      let reference: Figure['reference']
      for (const [id, label, call] of group) {
        progress(`${label}, ${inFlight} in flight`)
        const value = await measure(call, effortOf(quick), inFlight)
        reference ??= { name: label, value }
        figures.push({
          id: `${id}_${inFlight}`,
          label: `${label}, ${inFlight} in flight`,
          value,
          unit: 'per_second',
          reference,
        })
      }
    }
  }
  return {
    title: 'ES256 APIs of Node',
    figures,
    notes: ['Data of 1 KB, without the conversion between r||s and DER.'],
  }
}

async function ways(): Promise<readonly (readonly Way[])[]> {
  const { privateKey, publicKey } = nodeCrypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const webPrivate = await crypto.subtle.importKey(
    'jwk',
    privateKey.export({ format: 'jwk' }),
    CURVE,
    false,
    ['sign'],
  )
  const webPublic = await crypto.subtle.importKey('jwk', publicKey.export({ format: 'jwk' }), CURVE, false, [
    'verify',
  ])
  const data = nodeCrypto.randomBytes(1_024)
  const rawPrivate = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  const rawPublic = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  const raw = nodeCrypto.sign('sha256', data, rawPrivate)
  const der = nodeCrypto.sign('sha256', data, privateKey)
  type Done = (error: Error | null) => void
  const called = (start: (done: Done) => void) => () =>
    new Promise<void>((resolve, reject) => {
      start((error) => (error === null ? resolve() : reject(error)))
    })
  return [
    [
      ['sign_p1363', 'sign, r||s', () => nodeCrypto.sign('sha256', data, rawPrivate)],
      ['sign_der', 'sign, DER', () => nodeCrypto.sign('sha256', data, privateKey)],
      [
        'sign_callback_p1363',
        'sign, r||s, callback',
        called((done) => nodeCrypto.sign('sha256', data, rawPrivate, done)),
      ],
      [
        'sign_callback_der',
        'sign, DER, callback',
        called((done) => nodeCrypto.sign('sha256', data, privateKey, done)),
      ],
      ['sign_web', 'sign, WebCrypto', () => crypto.subtle.sign(WEB, webPrivate, data)],
    ],
    [
      ['verify_p1363', 'verify, r||s', () => nodeCrypto.verify('sha256', data, rawPublic, raw)],
      ['verify_der', 'verify, DER', () => nodeCrypto.verify('sha256', data, publicKey, der)],
      [
        'verify_callback_p1363',
        'verify, r||s, callback',
        called((done) => nodeCrypto.verify('sha256', data, rawPublic, raw, done)),
      ],
      [
        'verify_callback_der',
        'verify, DER, callback',
        called((done) => nodeCrypto.verify('sha256', data, publicKey, der, done)),
      ],
      ['verify_web', 'verify, WebCrypto', () => crypto.subtle.verify(WEB, webPublic, raw, data)],
    ],
  ]
}
