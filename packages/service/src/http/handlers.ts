import type { JsonValue } from '@agent-exchange/crypto'
import type { DeploymentProfile, Named, OperationId } from '@agent-exchange/protocol'
import type { RecordedAnswer } from '../kernel/idempotency-records.ts'
import { getAgent } from '../features/agents/get-agent.ts'
import { getAgentKeys } from '../features/agents/get-keys.ts'
import { registerAgent } from '../features/agents/register-agent.ts'
import { registerAgentKey } from '../features/agents/register-key.ts'
import { revokeAgentKey } from '../features/agents/revoke-key.ts'
import { getPackageAuditEvidence } from '../features/audit/package-evidence.ts'
import { getThreadAuditEvidence } from '../features/audit/thread-evidence.ts'
import { acknowledgeNotification } from '../features/notifications/acknowledge.ts'
import { createWebhookEndpoint } from '../webhooks/endpoints/create-endpoint.ts'
import { listNotifications } from '../features/notifications/list.ts'
import { getNotificationSigningKeys } from '../features/notifications/signing-keys.ts'
import { packageSubmission } from '../features/packages/acceptance.ts'
import { createPackageReceipt } from '../features/packages/create-receipt.ts'
import { getPackage } from '../features/packages/get.ts'
import { revokePackage } from '../features/packages/revoke.ts'
import { createPolicyReceipt } from '../features/policy-receipts/create.ts'
import { getPolicyReceipt } from '../features/policy-receipts/get.ts'
import { getSkillRelease } from '../features/skills/get-release.ts'
import { listSkillReleases } from '../features/skills/list-releases.ts'
import { getThread } from '../features/threads/get.ts'
import type { BatchMutation, Call, Mutation, Read, ReplicaRead } from '../kernel/call.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { toAnswer } from './to-answer.ts'

type Services = Pick<AgentServerDependencies, 'db' | 'replica' | 'mutations' | 'concurrency'>

/** Executes one operation. */
export interface Handler<Id extends OperationId> {
  /** Checks the body before schema validation. */
  readonly inspect?: ((body: unknown, profile: DeploymentProfile) => void | Promise<void>) | undefined
  /** The schema of a body, if it is not that of the operation. Undefined: the operation itself checks the body. */
  readonly schemaOf?: ((body: JsonValue) => Named<unknown> | undefined) | undefined
  readonly run: (call: Call<Id>, services: Services) => Promise<RecordedAnswer>
}

function reads<Id extends OperationId>(id: Id, read: Read<Id>): Handler<Id> {
  return { run: async (call, { db }) => toAnswer(id, await read(call, db)) }
}

/** Pages take the most time of all reads, so those of one organization are limited (O-13). */
function readsPages<Id extends OperationId>(id: Id, read: Read<Id>): Handler<Id> {
  return {
    run: (call, { db, concurrency }) =>
      concurrency.reads(call.caller.organizationId, async () => toAnswer(id, await read(call, db))),
  }
}

/** Skills and evidence: long pages that change rarely. Everything else is read from the primary. */
function readsPagesFromReplica<Id extends OperationId>(id: Id, read: ReplicaRead<Id>): Handler<Id> {
  return {
    run: (call, { db, replica, concurrency }) =>
      concurrency.reads(call.caller.organizationId, async () =>
        toAnswer(
          id,
          await (replica ? replica.read(call.position, (queries) => read(call, queries)) : read(call, db)),
        ),
      ),
  }
}

/** Each call takes a database connection of its own, so they are limited per organization (O-13). */
function mutates<Id extends OperationId, Found>(id: Id, mutation: Mutation<Id, Found>): Handler<Id> {
  return {
    inspect: mutation.inspect,
    schemaOf: mutation.schemaOf,
    run: (call, { mutations, concurrency }) =>
      concurrency.changes(call.caller.organizationId, () => mutations.submit(id, mutation, call)),
  }
}

function mutatesInBatches<Id extends OperationId, Found, State>(
  id: Id,
  mutation: BatchMutation<Id, Found, State>,
): Handler<Id> {
  return {
    inspect: mutation.inspect,
    schemaOf: mutation.schemaOf,
    run: (call, { mutations }) => mutations.submit(id, mutation, call),
  }
}

/** One handler per operation; a missing handler is a compile error. */
export const handlers: { readonly [Id in OperationId]: Handler<Id> } = {
  registerAgent: mutates('registerAgent', registerAgent),
  getAgent: reads('getAgent', getAgent),
  registerAgentKey: mutates('registerAgentKey', registerAgentKey),
  revokeAgentKey: mutates('revokeAgentKey', revokeAgentKey),
  listSkillReleases: readsPagesFromReplica('listSkillReleases', listSkillReleases),
  getSkillRelease: readsPagesFromReplica('getSkillRelease', getSkillRelease),
  getAgentKeys: reads('getAgentKeys', getAgentKeys),
  getNotificationSigningKeys: reads('getNotificationSigningKeys', getNotificationSigningKeys),
  createPolicyReceipt: mutatesInBatches('createPolicyReceipt', createPolicyReceipt),
  getPolicyReceipt: reads('getPolicyReceipt', getPolicyReceipt),
  createPackageTransfer: mutatesInBatches('createPackageTransfer', packageSubmission),
  getPackage: reads('getPackage', getPackage),
  createPackageReceipt: mutatesInBatches('createPackageReceipt', createPackageReceipt),
  createPackageResponse: mutatesInBatches('createPackageResponse', packageSubmission),
  revokePackage: mutates('revokePackage', revokePackage),
  getThread: readsPages('getThread', getThread),
  createWebhookEndpoint: mutates('createWebhookEndpoint', createWebhookEndpoint),
  listNotifications: readsPages('listNotifications', listNotifications),
  acknowledgeNotification: mutatesInBatches('acknowledgeNotification', acknowledgeNotification),
  getThreadAuditEvidence: readsPagesFromReplica('getThreadAuditEvidence', getThreadAuditEvidence),
  getPackageAuditEvidence: readsPagesFromReplica('getPackageAuditEvidence', getPackageAuditEvidence),
}
