import { generateKeyPair } from '@agent-exchange/crypto'
import type { Context } from '../run/context.ts'
import { holds, listOf, succeeded } from '../run/expect.ts'
import { NotJudged } from '../run/finding.ts'
import type { CallOptions } from '../run/organization.ts'
import type { Answer } from '../wire/wire.ts'
import { type Agent, keyBody, newIdentity, registrationOf } from './agent.ts'
import {
  type Deviation,
  type Draft,
  draftPackage,
  receiptStatement,
  revocationStatement,
  sendPackage,
} from './draft.ts'
import { OPERATIONS, type OperationName, pathOf } from './operations.ts'
import { type Notification, notificationsOf } from './stream.ts'

/** A valid request with new ids. */
export interface ValidRequest {
  readonly by: Agent
  readonly path: string
  readonly body?: object
  /** Another valid body with the same path, for the same idempotency key. */
  readonly other?: object
  /** Instead of a new one for each call. */
  readonly idempotencyKey?: string
}

/** Sends a package that must be accepted. If it is not, what the check is about was not judged. */
export async function sent(
  context: Context,
  deviation: Deviation = {},
  from = context.sender,
  to = context.recipient,
): Promise<Draft> {
  const draft = await draftPackage(context, from, to, deviation)
  const receipt = await from.organization.call('POST', '/v1/policy-receipts', draft.receipt)
  succeeded(receipt, 201, 'a valid policy receipt', ['API-01', 'POL-01'])
  const operation = deviation.respondsTo === undefined ? 'PKG-04' : 'PKG-09'
  succeeded(await sendPackage(from, draft), 202, 'a valid package', ['API-01', operation])
  return draft
}

export async function newKey(context: Context) {
  return keyBody({ keyId: context.newId('sig'), pair: await generateKeyPair('signing') }, 'signing')
}

/** Registers a further signing key of the sender and returns its id. */
export async function registeredKey(context: Context): Promise<string> {
  const { sender } = context
  const key = await newKey(context)
  const path = pathOf('registerAgentKey', { agent_id: sender.agentId })
  succeeded(await sender.organization.call('POST', path, key), 201, 'a further key', ['API-01'])
  return key.key_id
}

const revocationOfKey = (context: Context, reason = 'rotation') => ({
  invalid_from: context.now(),
  reason_code: reason,
  evidence_reference: 'case 1',
})

type Maker = (context: Context) => ValidRequest | Promise<ValidRequest>

const MAKERS: Readonly<Record<OperationName, Maker>> = {
  async registerAgent(context) {
    const { organization } = context.sender
    const body = registrationOf(organization.organizationId, await newIdentity(context.newId))
    return {
      by: context.sender,
      path: pathOf('registerAgent'),
      body,
      other: { ...body, implementation: 'other' },
    }
  },
  getAgent: ({ sender, recipient }) => ({
    by: recipient,
    path: pathOf('getAgent', { agent_id: sender.agentId }),
  }),
  async registerAgentKey(context) {
    const { sender } = context
    const body = await newKey(context)
    const path = pathOf('registerAgentKey', { agent_id: sender.agentId })
    return { by: sender, path, body, other: { ...body, valid_from: '2025-02-01T00:00:00Z' } }
  },
  async revokeAgentKey(context) {
    const { sender } = context
    const path = pathOf('revokeAgentKey', { agent_id: sender.agentId, key_id: await registeredKey(context) })
    return { by: sender, path, body: revocationOfKey(context), other: revocationOfKey(context, 'other') }
  },
  listSkillReleases: ({ sender }) => ({ by: sender, path: pathOf('listSkillReleases') }),
  async getSkillRelease(context) {
    const { skill_id, version } = await anyRelease(context)
    const path = pathOf('getSkillRelease', { skill_id: String(skill_id), version: String(version) })
    return { by: context.sender, path }
  },
  getAgentKeys: ({ sender, recipient }) => ({
    by: recipient,
    path: pathOf('getAgentKeys', { agent_id: sender.agentId }),
  }),
  getNotificationSigningKeys: ({ sender }) => ({ by: sender, path: pathOf('getNotificationSigningKeys') }),
  async createPolicyReceipt(context) {
    const { sender, recipient } = context
    const { receipt } = await draftPackage(context, sender, recipient)
    const { receipt: other } = await draftPackage(context, sender, recipient)
    return { by: sender, path: pathOf('createPolicyReceipt'), body: receipt, other }
  },
  async getPolicyReceipt(context) {
    const { metadata } = await sent(context)
    const path = pathOf('getPolicyReceipt', { policy_receipt_id: String(metadata['policy_receipt_id']) })
    return { by: context.sender, path }
  },
  async createPackageTransfer(context) {
    const [body, other] = [await receipted(context), await receipted(context)]
    return { by: context.sender, path: pathOf('createPackageTransfer'), body, other }
  },
  async getPackage(context) {
    const { packageId } = await sent(context)
    return { by: context.recipient, path: pathOf('getPackage', { package_id: packageId }) }
  },
  async createPackageReceipt(context) {
    const { recipient } = context
    const draft = await sent(context)
    const body = await receiptStatement(context, recipient, draft, 'received')
    const other = await receiptStatement(context, recipient, draft, 'opened')
    return {
      by: recipient,
      path: pathOf('createPackageReceipt', { package_id: draft.packageId }),
      body,
      other,
    }
  },
  async createPackageResponse(context) {
    const { recipient } = context
    const original = await sent(context)
    const [body, other] = [await receipted(context, original), await receipted(context, original)]
    const path = pathOf('createPackageResponse', { package_id: original.packageId })
    return { by: recipient, path, body, other }
  },
  async revokePackage(context) {
    const { sender } = context
    const { packageId } = await sent(context)
    const body = await revocationStatement(context, sender, packageId)
    const other = await revocationStatement(context, sender, packageId, 'withdrawn')
    return { by: sender, path: pathOf('revokePackage', { package_id: packageId }), body, other }
  },
  async getThread(context) {
    const { threadId } = await sent(context)
    return { by: context.recipient, path: pathOf('getThread', { thread_id: threadId }) }
  },
  createWebhookEndpoint: ({ sender, webhooks, newId }) => {
    const path = pathOf('createWebhookEndpoint')
    if (webhooks) {
      // Nobody subscribes to this path, so that the first event disables the endpoint by a 410.
      const url = `${webhooks.url}/${newId('hook')}`
      const other = { url, event_types: ['package.accepted', 'conformance.other'] }
      return { by: sender, path, body: { url, event_types: ['package.accepted'] }, other }
    }
    // Without a receiver nothing can disable it: the same request in each run, so that it is registered once.
    const url = 'https://agent.example/conformance'
    const body = { url, event_types: ['conformance.never'] }
    const other = { url, event_types: ['conformance.never', 'conformance.other'] }
    return { by: sender, path, body, other, idempotencyKey: 'idem_conformance_webhook_endpoint' }
  },
  listNotifications: ({ recipient }) => ({ by: recipient, path: pathOf('listNotifications') }),
  async acknowledgeNotification(context) {
    const { recipient } = context
    const notification = await notified(context, await sent(context))
    const path = pathOf('acknowledgeNotification', {
      notification_id: String(notification['notification_id']),
    })
    const body = {
      event_id: notification['event_id'],
      disposition: 'stored',
      stored_at: context.now(),
      last_contiguous_sequence: notification['sequence'],
    }
    return { by: recipient, path, body, other: { ...body, last_contiguous_sequence: 0 } }
  },
  async getThreadAuditEvidence(context) {
    const { threadId } = await sent(context)
    return { by: context.sender, path: pathOf('getThreadAuditEvidence', { thread_id: threadId }) }
  },
  async getPackageAuditEvidence(context) {
    const { packageId } = await sent(context)
    return { by: context.sender, path: pathOf('getPackageAuditEvidence', { package_id: packageId }) }
  },
}

/** A notification of an accepted package in the stream of its recipient. */
export async function notified(
  { recipient, eventually }: Context,
  { packageId }: Draft,
): Promise<Notification> {
  const read = () => notificationsOf(recipient, packageId)
  const [notification] = await eventually(read, ({ length }) => length > 0)
  holds(
    notification !== undefined,
    'no notification of an accepted package is in the stream of its recipient',
    ['EVT-01'],
  )
  return notification
}

/** The body of a package, or of a response, whose policy receipt was accepted. */
async function receipted(context: Context, original?: Draft): Promise<object> {
  const { sender, recipient } = context
  const draft =
    original === undefined
      ? await draftPackage(context, sender, recipient)
      : await draftPackage(context, recipient, sender, {
          threadId: original.threadId,
          respondsTo: original.packageId,
        })
  const by = original === undefined ? sender : recipient
  const receipt = await by.organization.call('POST', '/v1/policy-receipts', draft.receipt)
  succeeded(receipt, 201, 'a policy receipt', ['API-01', 'POL-01'])
  return draft.body
}

/** A published release; without one, the hook publishes one. */
export async function anyRelease(context: Context): Promise<Readonly<Record<string, unknown>>> {
  const read = async () => {
    const answer = await context.sender.organization.call('GET', pathOf('listSkillReleases'))
    return listOf(succeeded(answer, 200).body['items'], 'items of the skill list')[0]
  }
  const found = await read()
  if (found) return found
  await context.hooks.publish_skill?.({ skill_id: 'skill_conformance', version: '1.0.0' })
  const published = await read()
  if (!published) throw new NotJudged('no skill release is published, and no hook publishes one')
  return published
}

export const validRequest = async (context: Context, operation: OperationName): Promise<ValidRequest> =>
  MAKERS[operation](context)

export function perform(
  operation: OperationName,
  { by, path, body, idempotencyKey }: ValidRequest,
  options: CallOptions = {},
): Promise<Answer> {
  const kept = idempotencyKey === undefined ? options : { idempotencyKey, ...options }
  return by.organization.call(OPERATIONS[operation].method, path, body, kept)
}
