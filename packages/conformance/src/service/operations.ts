/** The 21 operations, written out from the specification. */

import * as resources from './resources.ts'
import type { Shape } from './shape.ts'

export interface Operation {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly status: number
  /** Undefined where the specification shows no body. */
  readonly body: Shape | undefined
}

const get = (path: string, body?: Shape): Operation => ({ method: 'GET', path, status: 200, body })
const post = (path: string, status: number, body: Shape): Operation => ({
  method: 'POST',
  path,
  status,
  body,
})

export const OPERATIONS = {
  registerAgent: post('/v1/agents/register', 201, resources.AGENT),
  getAgent: get('/v1/agents/{agent_id}', resources.AGENT),
  registerAgentKey: post('/v1/agents/{agent_id}/keys', 201, resources.PUBLIC_KEY),
  revokeAgentKey: post('/v1/agents/{agent_id}/keys/{key_id}/revoke', 200, resources.PUBLIC_KEY),
  listSkillReleases: get('/v1/skills', resources.SKILL_PAGE),
  getSkillRelease: get('/v1/skills/{skill_id}/releases/{version}', resources.SKILL_RELEASE),
  getAgentKeys: get('/v1/directory/agents/{agent_id}/keys', resources.KEY_DIRECTORY),
  getNotificationSigningKeys: get('/v1/directory/notification-keys', resources.NOTIFICATION_KEYS),
  createPolicyReceipt: post('/v1/policy-receipts', 201, resources.POLICY_RECEIPT),
  getPolicyReceipt: get('/v1/policy-receipts/{policy_receipt_id}', resources.POLICY_RECEIPT),
  createPackageTransfer: post('/v1/packages', 202, resources.PACKAGE),
  getPackage: get('/v1/packages/{package_id}', resources.PACKAGE),
  createPackageReceipt: post('/v1/packages/{package_id}/receipts', 201, resources.PACKAGE_RECEIPT),
  createPackageResponse: post('/v1/packages/{package_id}/responses', 202, resources.PACKAGE),
  revokePackage: post('/v1/packages/{package_id}/revoke', 200, resources.REVOCATION),
  getThread: get('/v1/threads/{thread_id}', resources.THREAD),
  createWebhookEndpoint: post('/v1/webhook-endpoints', 201, resources.WEBHOOK_ENDPOINT),
  listNotifications: get('/v1/notifications', resources.NOTIFICATION_PAGE),
  acknowledgeNotification: post('/v1/notifications/{notification_id}/ack', 200, resources.ACKNOWLEDGEMENT),
  getThreadAuditEvidence: get('/v1/audit/threads/{thread_id}'),
  getPackageAuditEvidence: get('/v1/audit/packages/{package_id}'),
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]
export const MUTATIONS = OPERATION_NAMES.filter((each) => OPERATIONS[each].method === 'POST')

/** The path of an operation with its parameters. */
export function pathOf(operation: OperationName, parameters: Readonly<Record<string, string>> = {}): string {
  return OPERATIONS[operation].path.replaceAll(/\{(\w+)\}/gu, (_, parameter: string) =>
    encodeURIComponent(parameters[parameter] ?? ''),
  )
}

/** The operation that a request is about. */
export function operationAt(method: string, path: string): OperationName | undefined {
  return OPERATION_NAMES.find((each) => {
    const { method: own, path: template } = OPERATIONS[each]
    const pattern = template.replaceAll(/\{\w+\}/gu, '[^/]+')
    return own === method && new RegExp(`^${pattern}$`, 'u').test(path)
  })
}
