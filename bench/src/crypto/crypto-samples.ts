import * as aex from '@agent-exchange/crypto'
import { metadataOf, PLAINTEXT_BYTES, unsignedReceipt } from '../samples/package-parts.ts'

const BETWEEN = {
  sender: { organizationId: 'org_sender', agentId: 'agent_sender' },
  recipient: { organizationId: 'org_recipient', agentId: 'agent_recipient' },
}

/** Keys and messages of realistic sizes. */
export async function cryptoSamples() {
  const signing = await aex.generateKeyPair('signing')
  const sender = await aex.generateKeyPair('encryption')
  const recipient = await aex.generateKeyPair('encryption')
  const seal = {
    sender: { kid: 'key_sender', publicKey: sender.publicKey },
    recipient: { kid: 'key_recipient', publicKey: recipient.publicKey },
  }
  const plaintext = crypto.getRandomValues(new Uint8Array(PLAINTEXT_BYTES))
  const jwe = await aex.sealPackage(plaintext, seal)
  const metadata = metadataOf(BETWEEN, await aex.sealedContentDigest(jwe), new Date('2026-01-01T00:00:00Z'))
  const key = { key: signing.privateKey, kid: 'key_signing' }
  const receipt = unsignedReceipt(metadata)
  const signature = await aex.signPolicyReceipt(receipt, { key: signing.privateKey, keyId: 'key_signing' })
  return {
    signing,
    seal,
    plaintext,
    jwe,
    own: { kid: 'key_recipient', privateKey: recipient.privateKey },
    envelope: JSON.stringify(await aex.signEnvelope({ metadata, jwe }, key)),
    receipt: { ...receipt, signature },
  }
}
