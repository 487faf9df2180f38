import { operations, type DeploymentProfile, type OperationId } from '@agent-exchange/protocol'
import type { RecordedAnswer } from '../db/idempotency.ts'
import { getAgent } from '../features/agents/get-agent.ts'
import { getAgentKeys } from '../features/agents/get-keys.ts'
import { registerAgent } from '../features/agents/register-agent.ts'
import { registerAgentKey } from '../features/agents/register-key.ts'
import { revokeAgentKey } from '../features/agents/revoke-key.ts'
import { getPackageAuditEvidence } from '../features/audit/package-evidence.ts'
import { getThreadAuditEvidence } from '../features/audit/thread-evidence.ts'
import { acknowledgeNotification } from '../features/notifications/acknowledge.ts'
import { createWebhookEndpoint } from '../features/notifications/create-endpoint.ts'
import { listNotifications } from '../features/notifications/list.ts'
import { getNotificationSigningKeys } from '../features/notifications/signing-keys.ts'
import { createPackageReceipt } from '../features/packages/create-receipt.ts'
import { createPackageTransfer } from '../features/packages/create.ts'
import { getPackage } from '../features/packages/get.ts'
import type { PackageIntake } from '../features/packages/intake.ts'
import { createPackageResponse } from '../features/packages/respond.ts'
import { revokePackage } from '../features/packages/revoke.ts'
import type { PackageOperation } from '../features/packages/submission.ts'
import { createPolicyReceipt } from '../features/policy-receipts/create.ts'
import { getPolicyReceipt } from '../features/policy-receipts/get.ts'
import { getSkillRelease } from '../features/skills/get-release.ts'
import { listSkillReleases } from '../features/skills/list-releases.ts'
import { getThread } from '../features/threads/get.ts'
import type { Call, GroupMutation, Mutation, Read } from '../kernel/call.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { mutate } from './mutate.ts'

type Services = Pick<AgentServerDependencies, 'db' | 'acceptance' | 'mutationGroups' | 'limitConcurrency'>

/** How an operation is carried out, whatever it is. */
export interface Handler<Id extends OperationId> {
  /** Looks at the body before its schema does. */
  readonly inspect?: ((body: unknown, profile: DeploymentProfile) => void | Promise<void>) | undefined
  readonly run: (call: Call<Id>, services: Services) => Promise<RecordedAnswer>
}

function reads<Id extends OperationId>(id: Id, read: Read<Id>): Handler<Id> {
  const { status } = operations[id].success
  return { run: async (call, { db }) => ({ status, body: JSON.stringify(await read(call, db)) }) }
}

function mutates<Id extends OperationId, Found>(id: Id, mutation: Mutation<Id, Found>): Handler<Id> {
  return {
    inspect: mutation.inspect,
    run: (call, { db, limitConcurrency }) =>
      limitConcurrency(call.caller.organizationId, () => mutate(id, mutation, call, db)),
  }
}

function mutatesInGroups<Id extends OperationId, Found>(
  id: Id,
  mutation: GroupMutation<Id, Found>,
): Handler<Id> {
  return { run: (call, { mutationGroups }) => mutationGroups.submit(id, mutation, call) }
}

/** Handed-in packages are committed in groups. */
function takesIn<Id extends PackageOperation>(intake: PackageIntake<Id>): Handler<Id> {
  return { run: async (call, { db, acceptance }) => acceptance.submit(await intake(call, db)) }
}

/** One handler for each operation: a missing one does not compile. */
export const handlers: { readonly [Id in OperationId]: Handler<Id> } = {
  registerAgent: mutates('registerAgent', registerAgent),
  getAgent: reads('getAgent', getAgent),
  registerAgentKey: mutates('registerAgentKey', registerAgentKey),
  revokeAgentKey: mutates('revokeAgentKey', revokeAgentKey),
  listSkillReleases: reads('listSkillReleases', listSkillReleases),
  getSkillRelease: reads('getSkillRelease', getSkillRelease),
  getAgentKeys: reads('getAgentKeys', getAgentKeys),
  getNotificationSigningKeys: reads('getNotificationSigningKeys', getNotificationSigningKeys),
  createPolicyReceipt: mutatesInGroups('createPolicyReceipt', createPolicyReceipt),
  getPolicyReceipt: reads('getPolicyReceipt', getPolicyReceipt),
  createPackageTransfer: takesIn(createPackageTransfer),
  getPackage: reads('getPackage', getPackage),
  createPackageReceipt: mutatesInGroups('createPackageReceipt', createPackageReceipt),
  createPackageResponse: takesIn(createPackageResponse),
  revokePackage: mutates('revokePackage', revokePackage),
  getThread: reads('getThread', getThread),
  createWebhookEndpoint: mutates('createWebhookEndpoint', createWebhookEndpoint),
  listNotifications: reads('listNotifications', listNotifications),
  acknowledgeNotification: mutatesInGroups('acknowledgeNotification', acknowledgeNotification),
  getThreadAuditEvidence: reads('getThreadAuditEvidence', getThreadAuditEvidence),
  getPackageAuditEvidence: reads('getPackageAuditEvidence', getPackageAuditEvidence),
}
