import {
  canonicalBytes,
  sealedContentDigest,
  sealPackage,
  signEnvelope,
  signPolicyReceipt,
  writeAdditionalData,
  type SealedPackage,
} from '@agent-exchange/crypto'
import {
  MEDIA_TYPE,
  POLICY_CHECK_IDS,
  PROTOCOL_VERSION,
  type PackageMetadata,
  type PolicyReceipt,
} from '@agent-exchange/protocol'
import { createContext } from '../create-context.ts'
import type { TestAgent } from '../agents.fixture.ts'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import { packageFor, SKILL } from './drafts.fixture.ts'
import { currentSigningKey, ownParty } from '../agent-keys/own-keys.ts'

export interface Crafting {
  /** Changes the object before it is sealed, once its metadata are known. */
  readonly object?: (object: Record<string, unknown>) => unknown
  readonly plaintext?: Uint8Array
  readonly metadata?: Partial<PackageMetadata>
  readonly receipt?: Partial<PolicyReceipt>
  readonly aad?: Uint8Array
  /** Runs after the policy receipt was accepted, before the package is signed. */
  readonly beforePackage?: () => Promise<void>
  /** Another public key under the recipient's key id. */
  readonly recipientKey?: Awaited<ReturnType<typeof ownParty>>['publicKey']
}

/**
 * A package that a sender with real keys made by hand, so that it can be wrong in one place where the SDK's own
 * sender would have refused. The real exchange accepts it: it cannot look inside.
 */
export async function sendCrafted(
  from: AgentContext,
  to: AgentContext,
  crafting: Crafting = {},
): Promise<PackageMetadata> {
  const createdAt = from.now().toISOString()
  const base = packageFor(from, to, { created_at: createdAt })
  const routing = {
    package_id: base.id,
    thread_id: base.thread_id,
    sender_org_id: from.identity.organizationId,
    sender_agent_id: from.identity.agentId,
    recipient_org_id: to.identity.organizationId,
    recipient_agent_id: to.identity.agentId,
    protocol_version: PROTOCOL_VERSION,
    schema_version: base.schema_version,
    skill_id: SKILL.id,
    skill_version: SKILL.version,
    created_at: createdAt,
    expires_at: new Date(Date.parse(createdAt) + 86_400_000).toISOString(),
    content_type: MEDIA_TYPE.reasoningPackage,
    policy_receipt_id: randomId('receipt'),
    ...crafting.metadata,
  }
  const plaintext = crafting.plaintext ?? canonicalBytes(crafting.object?.({ ...base }) ?? base)
  const recipient = await from.peers.encryptionKey(to.identity.agentId)
  const jwe = await sealPackage(plaintext, {
    sender: await ownParty(from),
    recipient: { kid: recipient.keyId, publicKey: crafting.recipientKey ?? recipient.publicKey },
    aad: crafting.aad ?? writeAdditionalData(routing),
  })
  return handOver(from, routing, jwe, crafting)
}

async function handOver(
  from: AgentContext,
  routing: Omit<PackageMetadata, 'content_digest' | 'transport_mode'>,
  jwe: SealedPackage,
  crafting: Crafting,
): Promise<PackageMetadata> {
  const metadata: PackageMetadata = {
    ...routing,
    content_digest: await sealedContentDigest(jwe),
    transport_mode: 'native',
  }
  const receiptSigner = await currentSigningKey(from)
  const receipt = {
    ...receiptFor(metadata),
    ...crafting.receipt,
  }
  await from.connection.call('createPolicyReceipt', {
    body: { ...receipt, signature: await signPolicyReceipt(receipt, receiptSigner) },
  })
  await crafting.beforePackage?.()
  const signer = await currentSigningKey(from)
  const envelope = await signEnvelope({ metadata, jwe }, { key: signer.key, kid: signer.keyId })
  await from.connection.call('createPackageTransfer', { body: { ...envelope } })
  return metadata
}

function receiptFor(metadata: PackageMetadata): Omit<PolicyReceipt, 'signature'> {
  const { policy_receipt_id, package_id, thread_id, sender_org_id, sender_agent_id } = metadata
  const { recipient_org_id, recipient_agent_id, protocol_version, skill_id, skill_version } = metadata
  return {
    policy_receipt_id,
    receipt_version: '1.0',
    package_id,
    thread_id,
    sender_org_id,
    sender_agent_id,
    recipient_org_id,
    recipient_agent_id,
    protocol_version,
    skill_id,
    skill_version,
    content_digest: metadata.content_digest,
    policy_id: 'pol_supply_alignment',
    policy_schema_version: '1.0.0',
    policy_digest: metadata.content_digest,
    checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' })),
    human_approval: { required: false },
    evaluated_at: metadata.created_at,
    statement: 'Evaluated by hand.',
  }
}

export type Alteration = (text: string) => string | Uint8Array | undefined

/** The same agent behind an exchange that lies: one kind of answer is altered on its way, the rest is real. */
export function behindLiar(agent: TestAgent, path: RegExp, alter: Alteration): AgentContext {
  return createContext({
    ...agent.options,
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      const isRead = (init?.method ?? 'GET') === 'GET'
      if (!isRead || !path.test(new URL(url).pathname) || response.status !== 200) return response
      const body = alter(await response.text())
      if (body === undefined) return new Response('', { status: 502 })
      const headers = new Headers(response.headers)
      for (const name of ['content-length', 'content-encoding']) headers.delete(name)
      return new Response(body, { status: 200, headers })
    },
  })
}
