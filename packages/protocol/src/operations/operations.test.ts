import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROBLEM_CODES } from '../problems.ts'
import { nameOf } from '../schema/define.ts'
import { pathParameters, problemsOf, type Operation } from './operation.ts'
import { OPERATION_IDS, operations } from './operations.ts'

/** A second copy, written by hand, to detect mistakes in the table. */
const AGENT_API = `
registerAgent POST /v1/agents/register 201 AgentResource
getAgent GET /v1/agents/{agent_id} 200 AgentResource
registerAgentKey POST /v1/agents/{agent_id}/keys 201 PublicKey
revokeAgentKey POST /v1/agents/{agent_id}/keys/{key_id}/revoke 200 PublicKey
listSkillReleases GET /v1/skills 200 SkillReleasePage
getSkillRelease GET /v1/skills/{skill_id}/releases/{version} 200 SkillRelease
getAgentKeys GET /v1/directory/agents/{agent_id}/keys 200 KeyDirectoryResponse
getNotificationSigningKeys GET /v1/directory/notification-keys 200 NotificationKeyDirectory
createPolicyReceipt POST /v1/policy-receipts 201 PolicyReceiptResource
getPolicyReceipt GET /v1/policy-receipts/{policy_receipt_id} 200 PolicyReceiptResource
createPackageTransfer POST /v1/packages 202 PackageResource
getPackage GET /v1/packages/{package_id} 200 PackageResource
createPackageReceipt POST /v1/packages/{package_id}/receipts 201 ReceiptResource
createPackageResponse POST /v1/packages/{package_id}/responses 202 PackageResource
revokePackage POST /v1/packages/{package_id}/revoke 200 PackageRevocationResource
getThread GET /v1/threads/{thread_id} 200 ThreadResource
createWebhookEndpoint POST /v1/webhook-endpoints 201 WebhookEndpointResource
listNotifications GET /v1/notifications 200 NotificationPage
acknowledgeNotification POST /v1/notifications/{notification_id}/ack 200 NotificationAcknowledgement
getThreadAuditEvidence GET /v1/audit/threads/{thread_id} 200 ThreadAuditEvidence
getPackageAuditEvidence GET /v1/audit/packages/{package_id} 200 PackageAuditEvidence`

test('[API-01] the table has the 21 operations with their methods, paths, statuses and bodies', () => {
  const rows = OPERATION_IDS.map((id) => {
    const { method, path, success } = operations[id]
    return `${id} ${method} ${path} ${success.status} ${nameOf(success.body)}`
  })
  assert.deepEqual(rows, AGENT_API.trim().split('\n'))
  assert.equal(rows.length, 21)
})

test('[API-03] every POST is a mutation with a body, every GET is neither', () => {
  for (const id of OPERATION_IDS) {
    const operation: Operation = operations[id]
    assert.equal(operation.mutation, operation.method === 'POST', id)
    assert.equal(operation.request !== undefined, operation.mutation, id)
  }
})

test('[ERR-03] each problem code belongs to an operation, and none is listed twice', () => {
  const listed = new Set(OPERATION_IDS.flatMap((id) => problemsOf(operations[id])))
  // Not returned by an operation, but by downloads, the router, POST /join and the transparency log.
  const elsewhere = ['package_revoked', 'method_not_allowed', 'invitation_refused', 'log_damaged']
  assert.deepEqual(PROBLEM_CODES.filter((code) => !listed.has(code)).toSorted(), elsewhere.toSorted())
  for (const id of OPERATION_IDS) {
    const own = operations[id].problems
    assert.equal(new Set(own).size, own.length, id)
  }
})

test('[API-01] path parameters are found in order', () => {
  assert.deepEqual(pathParameters(operations.revokeAgentKey.path), ['agent_id', 'key_id'])
  assert.deepEqual(pathParameters(operations.getNotificationSigningKeys.path), [])
})
