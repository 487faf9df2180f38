import { generateKeyPair } from '@agent-exchange/crypto'
import { operations, type NotificationEnvelope, type OperationId } from '@agent-exchange/protocol'
import type { Answer, Organization, RequestOptions } from './test-world.ts'
import {
  draftPackage,
  freshId,
  receiptBody,
  revocationBody,
  submit,
  type PackageDraft,
} from './package-draft.ts'
import { draftSkillManifest } from './skill-manifest.ts'
import { approveConnector } from './parties.ts'
import type { World } from './test-world.ts'

/** A valid request for an operation. */
export interface OperationRequest {
  readonly id: OperationId
  readonly by: Organization
  readonly path: string
  /** Undefined for reads. */
  readonly body: object | undefined
  send(options?: RequestOptions): Promise<Answer>
}

/** Two organizations with a package between them, and a valid request with new ids for each operation. */
export interface Scene {
  readonly sender: Organization
  readonly recipient: Organization
  readonly standing: PackageDraft
  make(id: OperationId): Promise<OperationRequest>
}

type Parts = { by: Organization; path?: Record<string, string>; body?: object }

export interface SceneOptions {
  /** Both organizations have an approved connector, so packages are manifests. */
  readonly dsx?: boolean
}

export async function setScene(world: World, { dsx = false }: SceneOptions = {}): Promise<Scene> {
  const [sender, recipient] = await Promise.all([
    world.organization('scene_a'),
    world.organization('scene_b'),
  ])
  const connectors = dsx ? [await approveConnector(sender), await approveConnector(recipient)] : []
  const transport = connectors.map((connectorId) => ({ dsx: { connectorId } }))
  const standing = await draftPackage(sender, recipient, transport[0])
  await accepted(submit(sender, standing))
  const release = await publishSkill(world)
  const [notification] = (await sender.get('/v1/notifications')).body['items'] as NotificationEnvelope[]
  const { metadata } = standing
  const send = async () => {
    const draft = await draftPackage(sender, recipient, transport[0])
    await accepted(sender.post('/v1/policy-receipts', draft.receipt))
    return draft
  }
  const ofAgent = { agent_id: sender.agentId }
  const makers: Record<OperationId, () => Parts | Promise<Parts>> = {
    registerAgent: () => ({
      by: sender,
      body: { ...sender.registration(), agent_id: freshId('agent') },
    }),
    getAgent: () => ({ by: recipient, path: ofAgent }),
    registerAgentKey: async () => ({ by: sender, path: ofAgent, body: await newKey() }),
    revokeAgentKey: async () => {
      const key = await newKey()
      await accepted(sender.post(`/v1/agents/${sender.agentId}/keys`, key))
      const body = {
        invalid_from: world.clock.now(),
        reason_code: 'rotation',
        evidence_reference: 'case 7',
      }
      return { by: sender, path: { ...ofAgent, key_id: key.key_id }, body }
    },
    listSkillReleases: () => ({ by: sender }),
    getSkillRelease: () => ({ by: sender, path: release }),
    getAgentKeys: () => ({ by: recipient, path: ofAgent }),
    getNotificationSigningKeys: () => ({ by: sender }),
    createPolicyReceipt: async () => ({ by: sender, body: (await draftPackage(sender, recipient)).receipt }),
    getPolicyReceipt: () => ({ by: sender, path: { policy_receipt_id: metadata.policy_receipt_id } }),
    createPackageTransfer: async () => ({ by: sender, body: (await send()).body }),
    getPackage: () => ({ by: recipient, path: { package_id: metadata.package_id } }),
    createPackageReceipt: async () => ({
      by: recipient,
      path: { package_id: metadata.package_id },
      body: await receiptBody(recipient, metadata, 'received'),
    }),
    createPackageResponse: async () => {
      const answer = await draftPackage(recipient, sender, {
        threadId: metadata.thread_id,
        respondsTo: metadata.package_id,
        ...transport[1],
      })
      await accepted(recipient.post('/v1/policy-receipts', answer.receipt))
      return { by: recipient, path: { package_id: metadata.package_id }, body: answer.body }
    },
    revokePackage: async () => {
      const draft = await send()
      await accepted(sender.post('/v1/packages', draft.body))
      const body = await revocationBody(sender, draft.metadata)
      return { by: sender, path: { package_id: draft.metadata.package_id }, body }
    },
    getThread: () => ({ by: recipient, path: { thread_id: metadata.thread_id } }),
    createWebhookEndpoint: () => ({
      by: sender,
      body: { url: 'https://agent.example/hook', event_types: ['scene.never'] },
    }),
    listNotifications: () => ({ by: recipient }),
    acknowledgeNotification: () => ({
      by: sender,
      path: { notification_id: notification?.notification_id ?? '' },
      body: {
        event_id: notification?.event_id,
        disposition: 'stored',
        stored_at: world.clock.now(),
        last_contiguous_sequence: 1,
      },
    }),
    getThreadAuditEvidence: () => ({ by: sender, path: { thread_id: metadata.thread_id } }),
    getPackageAuditEvidence: () => ({ by: sender, path: { package_id: metadata.package_id } }),
  }
  return {
    sender,
    recipient,
    standing,
    make: async (id) => toRequest(id, await makers[id]()),
  }
}

function toRequest(id: OperationId, { by, path: parameters = {}, body }: Parts): OperationRequest {
  const { method, path: template } = operations[id]
  const path = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => parameters[name] ?? '')
  const send = (options: RequestOptions = {}) =>
    method === 'GET' ? by.get(path, options) : by.post(path, body, options)
  return { id, by, path, body, send }
}

async function newKey() {
  const { publicKey } = await generateKeyPair('signing')
  return {
    key_id: freshId('key'),
    use: 'signing',
    format: 'jwk',
    public_key: publicKey.jwk,
    valid_from: '2026-01-01T00:00:00Z',
  }
}

async function publishSkill(world: World): Promise<{ skill_id: string; version: string }> {
  const release = { skill_id: 'skill_alignment', version: '1.0.0' }
  const manifest = draftSkillManifest(release)
  const artifact = Buffer.from('artifact').toString('base64')
  const { status, body } = await world.operate('POST', '/skills', { manifest, artifact })
  // A second scene of the same world finds the release already published.
  if (status !== 201 && status !== 409) throw new Error(JSON.stringify(body))
  return release
}

async function accepted(sent: Promise<Answer>): Promise<void> {
  const answer = await sent
  if (answer.status >= 300) throw new Error(answer.text)
}
