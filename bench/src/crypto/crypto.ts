import * as aex from '@agent-exchange/crypto'
import type { Area, AreaContext, AreaResult, Figure } from '../area.ts'
import { cryptoSamples } from './crypto-samples.ts'
import { effortOf, measure } from './measure.ts'
import { opensslSpeed } from './openssl.ts'

/** Cryptographic operations, compared with openssl on one core. */
export const cryptoArea: Area = {
  name: 'crypto',
  what: 'signing, verifying, sealing and parsing, compared with `openssl speed`',
  run,
}

type Reference = 'sign' | 'verify' | 'parse'
type Row = readonly [id: string, label: string, call: () => unknown, inFlight?: number, reference?: Reference]

async function run({ quick, progress }: AreaContext): Promise<AreaResult> {
  progress('openssl speed')
  const openssl = await opensslSpeed()
  const references: Partial<Record<Reference, Figure['reference']>> = {}
  if (openssl !== undefined) {
    references.sign = { name: 'openssl sign', value: openssl.sign }
    references.verify = { name: 'openssl verify', value: openssl.verify }
  }
  const figures: Figure[] = []
  for (const [id, label, call, inFlight = 1, reference] of await rows()) {
    progress(label)
    const value = await measure(call, effortOf(quick), inFlight)
    if (id === 'json_parse') references.parse = { name: 'JSON.parse', value }
    figures.push({ id, label, value, unit: 'per_second', reference: reference && references[reference] })
  }
  const notes = openssl
    ? [
        `openssl speed on one core, same run: ${round(openssl.sign)} sign/s, ${round(openssl.verify)} verify/s.`,
      ]
    : ['openssl is not installed, so the signatures have no reference.']
  notes.push('64 in flight use every core; one in flight waits for each answer.')
  return { title: 'Cryptographic profiles', figures, notes }
}

async function rows(): Promise<readonly Row[]> {
  const sample = await cryptoSamples()
  const { publicKey, privateKey } = sample.signing
  const data = new TextEncoder().encode(sample.envelope)
  const kilobytes = `${(data.length / 1_024).toFixed(1)} KB`
  const signature = await aex.signEs256(privateKey, data)
  const verifyEnvelope = () => aex.verifyEnvelope(aex.parseEnvelope(data), publicKey)

  const created = new Date('2026-01-01T00:00:00Z')
  const url = 'https://agent.example/hooks'
  const body = new TextEncoder().encode(JSON.stringify({ event_id: 'evt_1', ...sample.receipt }))
  const delivery = { url, body, deliveryId: 'dlv_1', eventId: 'evt_1', attempt: 1 }
  const signWebhook = () => aex.signWebhook(delivery, { key: privateKey, keyId: 'key_n', created })
  const request = { method: 'POST', url, headers: await signWebhook(), body }
  const key = { publicKey, status: 'active', valid_from: '2025-01-01T00:00:00Z' }
  const verifyWebhook = () => aex.verifyWebhook(request, { keys: () => key, now: created })

  return [
    ['es256_sign_1', 'ES256 sign', () => aex.signEs256(privateKey, data), 1, 'sign'],
    ['es256_sign_64', 'ES256 sign, 64 in flight', () => aex.signEs256(privateKey, data), 64, 'sign'],
    ['es256_verify_1', 'ES256 verify', () => aex.verifyEs256(publicKey, data, signature), 1, 'verify'],
    [
      'es256_verify_64',
      'ES256 verify, 64 in flight',
      () => aex.verifyEs256(publicKey, data, signature),
      64,
      'verify',
    ],
    [
      'policy_receipt_verify',
      'policy receipt verify, 64 in flight',
      () => aex.verifyPolicyReceipt(sample.receipt, publicKey),
      64,
      'verify',
    ],
    ['envelope_parse', `envelope parse, ${kilobytes}`, () => aex.parseEnvelope(data)],
    ['envelope_verify_1', `envelope parse and verify, ${kilobytes}`, verifyEnvelope, 1, 'verify'],
    ['envelope_verify_64', 'the same, 64 in flight', verifyEnvelope, 64, 'verify'],
    [
      'seal',
      'seal to two recipients, 64 in flight',
      () => aex.sealPackage(sample.plaintext, sample.seal),
      64,
    ],
    ['open', 'open, 64 in flight', () => aex.openPackage(sample.jwe, sample.own), 64],
    ['webhook_sign', 'webhook sign, 64 in flight', signWebhook, 64, 'sign'],
    ['webhook_verify', 'webhook verify, 64 in flight', verifyWebhook, 64, 'verify'],
    ['canonicalize', 'canonicalize a policy receipt', () => aex.canonicalize(sample.receipt)],
    ['json_parse', `JSON.parse, ${kilobytes}`, () => JSON.parse(sample.envelope)],
    ['strict_json', `strict JSON, ${kilobytes}`, () => aex.parseStrictJson(sample.envelope), 1, 'parse'],
  ]
}

function round(value: number): string {
  return Math.round(value).toLocaleString('en')
}
