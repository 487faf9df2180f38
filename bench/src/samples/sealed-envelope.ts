import * as aex from '@agent-exchange/crypto'
import { metadataOf, PLAINTEXT_BYTES } from './package-parts.ts'

const BETWEEN = {
  sender: { organizationId: 'org_sender', agentId: 'agent_sender' },
  recipient: { organizationId: 'org_recipient', agentId: 'agent_recipient' },
}

/** A sealed and signed package of realistic size. */
export async function sealedEnvelope(): Promise<object> {
  const signing = await aex.generateKeyPair('signing')
  const sender = await aex.generateKeyPair('encryption')
  const recipient = await aex.generateKeyPair('encryption')
  const jwe = await aex.sealPackage(crypto.getRandomValues(new Uint8Array(PLAINTEXT_BYTES)), {
    sender: { kid: 'key_sender', publicKey: sender.publicKey },
    recipient: { kid: 'key_recipient', publicKey: recipient.publicKey },
  })
  const metadata = metadataOf(BETWEEN, await aex.sealedContentDigest(jwe), new Date('2026-01-01T00:00:00Z'))
  return aex.signEnvelope({ metadata, jwe }, { key: signing.privateKey, kid: 'key_signing' })
}
