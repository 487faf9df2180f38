import {
  importPrivateJwk,
  importPublicJwk,
  sealedContentDigest,
  sealPackage,
  signEnvelope,
  signPolicyReceipt,
  type PrivateKey,
} from '@agent-exchange/crypto'
import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Party } from '../exchange/parties.ts'
import { metadataOf, PLAINTEXT_BYTES, unsignedReceipt } from './package-parts.ts'

/** A package that is ready to be sent, with the policy receipt that has to be accepted before it. */
export interface MadePackage {
  /** The index of the sender. */
  readonly sender: number
  readonly metadata: PackageMetadata
  readonly body: Buffer
  readonly receipt: Buffer
}

export interface PackageKind {
  readonly senders: readonly Party[]
  readonly receivers: readonly Party[]
  /** All packages are in this thread; otherwise each has its own. */
  readonly threadId?: string
  readonly plaintextBytes?: number
}

/** Pairs that are sealed for: every sender and every receiver is in some of them. */
const MAXIMUM_PAIRS = 200

/** Creates packages between the parties, each with its own metadata and signature. */
export async function packageMaker({
  senders,
  receivers,
  threadId,
  plaintextBytes = PLAINTEXT_BYTES,
}: PackageKind): Promise<() => Promise<MadePackage>> {
  const keys = await Promise.all(
    senders.map(({ signing }) => importPrivateJwk(signing.jwk, { use: 'signing' })),
  )
  const contents = new Map<string, ReturnType<typeof sealFor>>()
  let made = 0
  return async () => {
    const pair = made++ % MAXIMUM_PAIRS
    const sender = pair % senders.length
    const [from, to] = [senders[sender] as Party, receivers[pair % receivers.length] as Party]
    // Sealed once per pair: sealing is work of the sender, and the exchange cannot see the difference.
    const name = `${from.agentId} ${to.agentId}`
    const content = contents.get(name) ?? sealFor(from, to, plaintextBytes)
    contents.set(name, content)
    const { jwe, digest } = await content
    const metadata = metadataOf({ sender: from, recipient: to }, { digest, threadId })
    const [key, keyId] = [keys[sender] as PrivateKey, from.signing.keyId]
    const envelope = await signEnvelope({ metadata, jwe }, { key, kid: keyId })
    const unsigned = unsignedReceipt(metadata)
    const receipt = { ...unsigned, signature: await signPolicyReceipt(unsigned, { key, keyId }) }
    return { sender, metadata, body: bytesOf(envelope), receipt: bytesOf(receipt) }
  }
}

const bytesOf = (value: object) => Buffer.from(JSON.stringify(value))

async function sealFor(from: Party, to: Party, bytes: number) {
  const plaintext = crypto.getRandomValues(new Uint8Array(bytes))
  const jwe = await sealPackage(plaintext, { sender: await sealedTo(from), recipient: await sealedTo(to) })
  return { jwe, digest: await sealedContentDigest(jwe) }
}

const sealedTo = async ({ encryption }: Party) => ({
  kid: encryption.keyId,
  publicKey: await importPublicJwk(encryption.jwk, { use: 'encryption' }),
})
