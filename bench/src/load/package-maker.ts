import {
  importPrivateJwk,
  importPublicJwk,
  sealedContentDigest,
  sealPackage,
  signEnvelope,
  signPolicyReceipt,
  type PrivateKey,
  type SealedPackage,
} from '@agent-exchange/crypto'
import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Party } from '../exchange/parties.ts'
import { metadataOf, PLAINTEXT_BYTES, unsignedReceipt } from '../samples/package-parts.ts'

/** A package that is ready to be sent. */
export interface MadePackage {
  /** The index of the sender. */
  readonly sender: number
  readonly metadata: PackageMetadata
  readonly body: Buffer
}

/** With the signed policy receipt that has to be accepted before it. */
export interface PackageWithReceipt extends MadePackage {
  readonly receipt: Buffer
}

/** Pairs that are sealed for: every sender and every receiver is in some of them. */
const MAXIMUM_PAIRS = 200

/** Creates packages between the parties, each with its own metadata, thread and signature. */
export async function packageMaker(senders: readonly Party[], receivers: readonly Party[]) {
  const keys = await Promise.all(
    senders.map(({ signing }) => importPrivateJwk(signing.jwk, { use: 'signing' })),
  )
  const contents = new Map<string, Promise<{ jwe: SealedPackage; digest: string }>>()
  let made = 0

  function turn() {
    const pair = made++ % MAXIMUM_PAIRS
    const sender = pair % senders.length
    return { sender, from: senders[sender] as Party, to: receivers[pair % receivers.length] as Party }
  }

  /** Sealed once per pair: sealing is work of the sender, and the exchange cannot see the difference. */
  function contentFor(from: Party, to: Party) {
    const name = `${from.agentId} ${to.agentId}`
    const known = contents.get(name) ?? sealFor(from, to)
    contents.set(name, known)
    return known
  }

  async function nextMetadata() {
    const { sender, from, to } = turn()
    const { jwe, digest } = await contentFor(from, to)
    const metadata = metadataOf({ sender: from, recipient: to }, digest, new Date())
    return { sender, from, jwe, metadata, key: keys[sender] as PrivateKey }
  }

  type Parts = Awaited<ReturnType<typeof nextMetadata>>

  async function packageOf({ sender, from, jwe, metadata, key }: Parts): Promise<MadePackage> {
    const envelope = await signEnvelope({ metadata, jwe }, { key, kid: from.signing.keyId })
    return { sender, metadata, body: Buffer.from(JSON.stringify(envelope)) }
  }

  async function receiptOf({ from, metadata, key }: Parts): Promise<Buffer> {
    const unsigned = unsignedReceipt(metadata)
    const signature = await signPolicyReceipt(unsigned, { key, keyId: from.signing.keyId })
    return Buffer.from(JSON.stringify({ ...unsigned, signature }))
  }

  return {
    makePackage: async (): Promise<MadePackage> => packageOf(await nextMetadata()),
    async makePackageWithReceipt(): Promise<PackageWithReceipt> {
      const parts = await nextMetadata()
      return { ...(await packageOf(parts)), receipt: await receiptOf(parts) }
    },
    /** A policy receipt alone, for a package that may never be sent. */
    async makeReceipt(): Promise<MadePackage> {
      const parts = await nextMetadata()
      return { sender: parts.sender, metadata: parts.metadata, body: await receiptOf(parts) }
    },
  }
}

async function sealFor(from: Party, to: Party) {
  const plaintext = crypto.getRandomValues(new Uint8Array(PLAINTEXT_BYTES))
  const jwe = await sealPackage(plaintext, { sender: await sealedTo(from), recipient: await sealedTo(to) })
  return { jwe, digest: await sealedContentDigest(jwe) }
}

const sealedTo = async ({ encryption }: Party) => ({
  kid: encryption.keyId,
  publicKey: await importPublicJwk(encryption.jwk, { use: 'encryption' }),
})
