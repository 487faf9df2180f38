import assert from 'node:assert/strict'
import {
  generateKeyPair,
  parseEnvelope,
  sha256Digest,
  signEnvelope,
  signManifest,
  type Envelope,
} from '@agent-exchange/crypto'
import { MEDIA_TYPE, type EdcReferences, type PackageMetadata } from '@agent-exchange/protocol'
import type { AgentContext } from '@agent-exchange/sdk/internal'
import { createMemoryOutbox } from '@agent-exchange/sdk'
import { sendPackage } from '../../../sdk/src/send/send-package.ts'
import { inputFor } from '../../../sdk/src/send/drafts.fixture.ts'
import { currentSigningKey } from '../../../sdk/src/agent-keys/own-keys.ts'
import type { Company } from './data-space.fixture.ts'

export interface Transfer {
  readonly packageId: string
  readonly metadata: PackageMetadata
  readonly edc: EdcReferences
  readonly bytes: Uint8Array
}

export interface TransferCraft {
  /** What is offered in place of the sealed envelope; the signed digest is that of these bytes. */
  readonly envelope?: (text: string, from: AgentContext) => string | Promise<string>
  /** References to another asset; nothing is published then. */
  readonly asset?: Pick<Transfer, 'edc'>
  /** Sealed for a key that the recipient does not have, under the id of one that it has. */
  readonly isSealedForAnother?: boolean
}

/** A ds_x package by a sender with real keys and a real connector that does what the SDK would not. */
export async function sendCraftedTransfer(
  from: Company,
  to: Company,
  { envelope = (text) => text, asset, isSealedForAnother = false }: TransferCraft = {},
): Promise<Transfer> {
  const context = isSealedForAnother ? await sealingForAnother(from.agent) : from.agent
  const outbox = createMemoryOutbox()
  const input = inputFor(from.agent, to.agent)
  const { id: packageId } = input.object
  const stop = new Error('far enough')
  const onProgress = ({ step }: { step: string }) => {
    if (step === 'receipt_accepted') throw stop
  }
  await assert.rejects(sendPackage(context, input, { outbox, dataSpace: from.dataSpace, onProgress }), stop)
  const entry = await outbox.read(packageId)
  assert.ok(entry)
  const bytes = new TextEncoder().encode(await envelope(entry.envelopeText, from.agent))
  const { metadata } = entry
  const edc = asset?.edc ?? (await offer(from, to, packageId, bytes))
  const manifest = { transport_mode: 'ds_x' as const, metadata, edc }
  const sender_signature = await signManifest(manifest, await currentSigningKey(from.agent))
  await from.agent.connection.call('createPackageTransfer', { body: { ...manifest, sender_signature } })
  return { packageId, metadata, edc, bytes }
}

async function offer(
  from: Company,
  to: Company,
  packageId: string,
  bytes: Uint8Array,
): Promise<EdcReferences> {
  const digest = await sha256Digest(bytes)
  const { participantId: recipientParticipantId } = to.connector
  const { assetId } = await from.connector.publish({ packageId, bytes, digest, recipientParticipantId })
  return { connector_id: from.connector.connectorId, asset_id: assetId, asset_digest: digest }
}

async function sealingForAnother(agent: AgentContext): Promise<AgentContext> {
  const { publicKey } = await generateKeyPair('encryption')
  const { peers } = agent
  const encryptionKey = async (agentId: string) => ({ ...(await peers.encryptionKey(agentId)), publicKey })
  return { ...agent, peers: { ...peers, encryptionKey } }
}

/** The envelope with a signature that is not over it. */
export function withBrokenSignature(text: string): string {
  const envelope = JSON.parse(text) as Envelope
  const { signature } = envelope
  return JSON.stringify({
    ...envelope,
    signature: `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`,
  })
}

type Inside = Parameters<typeof signEnvelope>[0]

/** What is inside, changed, and signed again: by the sender, or by a key that is nobody's under the sender's key id. */
export async function resigned(
  text: string,
  from: AgentContext,
  {
    change = (inside) => inside,
    byNobody = false,
  }: { change?: (inside: Inside) => Inside; byNobody?: boolean },
): Promise<string> {
  const { metadata, jwe } = parseEnvelope(text, { contentTypes: [MEDIA_TYPE.reasoningPackage] })
  const { key: own, keyId: kid } = await currentSigningKey(from)
  const key = byNobody ? (await generateKeyPair('signing')).privateKey : own
  return JSON.stringify(await signEnvelope(change({ metadata: metadata as object, jwe }), { key, kid }))
}
