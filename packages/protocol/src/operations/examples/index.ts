import type { OperationId } from '../operations.ts'
import * as agents from './agents.ts'
import * as audit from './audit.ts'
import * as notifications from './notifications.ts'
import * as packages from './packages.ts'
import * as receipts from './policy-receipts.ts'
import * as skills from './skills.ts'

export interface OperationExample {
  /** Bodies by the name of their schema. */
  readonly requests?: Readonly<Record<string, object>>
  readonly response: object
}

const one = (body: object) => ({ example: body })

/** An example for every body of every operation, with one supplier, one manufacturer and one package. */
export const operationExamples: Readonly<Record<OperationId, OperationExample>> = {
  registerAgent: { requests: one(agents.registration), response: agents.agent },
  getAgent: { response: agents.agent },
  registerAgentKey: { requests: one(agents.newKey), response: agents.registeredKey },
  revokeAgentKey: { requests: one(agents.keyRevocation), response: agents.revokedKey },
  listSkillReleases: { response: skills.skillReleasePage },
  getSkillRelease: { response: skills.skillRelease },
  getAgentKeys: { response: agents.directory },
  getNotificationSigningKeys: { response: agents.platformKeys },
  createPolicyReceipt: { requests: one(receipts.policyReceipt), response: receipts.policyReceiptResource },
  getPolicyReceipt: { response: receipts.policyReceiptResource },
  createPackageTransfer: {
    requests: { native: packages.nativePackage, ds_x: packages.dsxPackage },
    response: packages.acceptedPackage,
  },
  getPackage: { response: packages.receivedPackage },
  createPackageReceipt: { requests: one(packages.receipt), response: packages.recordedReceipt },
  createPackageResponse: {
    requests: { native: packages.nativeResponse, ds_x: packages.dsxResponse },
    response: packages.acceptedResponse,
  },
  revokePackage: { requests: one(packages.revocation), response: packages.revokedPackage },
  getThread: { response: packages.thread },
  createWebhookEndpoint: {
    requests: one(notifications.endpoint),
    response: notifications.registeredEndpoint,
  },
  listNotifications: { response: notifications.notificationPage },
  acknowledgeNotification: {
    requests: one(notifications.acknowledgementRequest),
    response: notifications.acknowledgement,
  },
  getThreadAuditEvidence: { response: audit.threadEvidence },
  getPackageAuditEvidence: { response: audit.packageEvidence },
}
