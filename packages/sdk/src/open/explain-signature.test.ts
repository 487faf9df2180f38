import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  canonicalBytes,
  encodeBase64url,
  generateKeyPair,
  parseDigest,
  parseEnvelope,
  sealPackage,
  sha256Digest,
  signEnvelope,
  signEs256,
  signManifest,
  signPackageStatement,
  signPolicyReceipt,
  type PrivateKey,
} from '@agent-exchange/crypto'
import { explainSignatureFailure } from './explain-signature.ts'
import type { SignedSubject } from './signature-finding.ts'

const [named, other, stranger] = await Promise.all([1, 2, 3].map(() => generateKeyPair('signing')))
assert.ok(named && other && stranger)
const candidates = [
  { keyId: 'key_named', publicKey: named.publicKey },
  { keyId: 'key_other', publicKey: other.publicKey },
]
const signer = { key: named.privateKey, keyId: 'key_named' }
const receipt = { b: 1, a: 'x', nested: { z: 1, y: 2 } }

async function codes(subject: SignedSubject): Promise<(string | undefined)[]> {
  return (await explainSignatureFailure(subject, candidates)).map(({ code, member }) =>
    member === undefined ? code : `${code} ${member}`,
  )
}

const policyReceipt = (object: object): SignedSubject => ({ kind: 'policy_receipt', object })

async function signedOver(bytes: Uint8Array, key: PrivateKey = named?.privateKey as PrivateKey) {
  const signature = encodeBase64url(await signEs256(key, bytes))
  return { ...receipt, signature: { key_id: 'key_named', algorithm: 'ES256', signature } }
}

test('[POL-01] a signature failure says what would have fitted', async () => {
  const text = new TextEncoder().encode(JSON.stringify(receipt))
  const hash = parseDigest(await sha256Digest(canonicalBytes(receipt)))
  const good = { ...receipt, signature: await signPolicyReceipt(receipt, signer) }
  assert.deepEqual(await codes(policyReceipt(await signedOver(canonicalBytes(receipt), other.privateKey))), [
    'other_key',
  ])
  assert.deepEqual(await codes(policyReceipt(await signedOver(text))), ['json_text'])
  assert.deepEqual(await codes(policyReceipt(await signedOver(text, other.privateKey))), [
    'other_key',
    'json_text',
  ])
  assert.deepEqual(await codes(policyReceipt(await signedOver(hash))), ['hashed_twice'])
  assert.deepEqual(await codes(policyReceipt({ ...good, added: 1 })), ['member_added added'])
  assert.deepEqual(await codes(policyReceipt({ ...good, nested: { ...receipt.nested, x: 3 } })), [
    'member_added nested.x',
  ])
  assert.deepEqual(await codes(policyReceipt({ ...good, a: 'other' })), ['nothing_fits'])
  assert.deepEqual(await codes(policyReceipt(await signedOver(text, stranger.privateKey))), ['nothing_fits'])
  const der = { ...good, signature: { ...good.signature, signature: encodeBase64url(new Uint8Array(70)) } }
  assert.deepEqual(await codes(policyReceipt(der)), ['signature_encoding'])
  assert.deepEqual(await codes(policyReceipt({ ...receipt })), ['signature_encoding'])
})

test('[PKG-03][PKG-08] manifests and statements are explained alike', async () => {
  const manifest = { ...receipt, sender_signature: await signManifest(receipt, signer) }
  assert.deepEqual(await codes({ kind: 'manifest', object: { ...manifest, more: 1 } }), ['member_added more'])
  const plain = { ...receipt, signature: await signPolicyReceipt(receipt, signer) }
  assert.deepEqual(await codes({ kind: 'statement', object: plain, packageId: 'pkg_1' }), ['other_package'])
  const bound = {
    ...receipt,
    signature: await signPackageStatement(receipt, { ...signer, packageId: 'pkg_2' }),
  }
  assert.deepEqual(await codes({ kind: 'statement', object: bound, packageId: 'pkg_1' }), ['nothing_fits'])
})

test('[PKG-01] an envelope that was serialized again is distinguished from one that was changed', async () => {
  const { publicKey } = await generateKeyPair('encryption')
  const party = { kid: 'key_enc', publicKey }
  const jwe = await sealPackage(new TextEncoder().encode('{}'), { sender: party, recipient: party })
  const metadata = { b: '1', a: '2' }
  const key = { key: named.privateKey, kid: 'key_named' }
  const envelope = await signEnvelope({ metadata, jwe }, key)
  const withPayload = (payload: object) =>
    parseEnvelope(
      JSON.stringify({
        ...envelope,
        payload: encodeBase64url(new TextEncoder().encode(JSON.stringify(payload))),
      }),
    )
  assert.deepEqual(await codes({ kind: 'envelope', envelope: withPayload({ metadata, jwe }) }), [
    'reserialized',
  ])
  const changed = withPayload({ metadata: { ...metadata, a: '3' }, jwe })
  assert.deepEqual(await codes({ kind: 'envelope', envelope: changed }), ['nothing_fits'])
  const byOther = await signEnvelope({ metadata, jwe }, { ...key, key: other.privateKey })
  const findings = await explainSignatureFailure(
    { kind: 'envelope', envelope: parseEnvelope(JSON.stringify(byOther)) },
    candidates,
  )
  assert.deepEqual(
    findings.map(({ code, keyId }) => [code, keyId]),
    [['other_key', 'key_other']],
  )
})
