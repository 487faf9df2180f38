import type { Handler } from '../call.ts'
import type { GatewayOperationId } from '../operations.ts'
import { checkDraft } from './check-draft.ts'
import { createDraft } from './create-draft.ts'
import { leaseItems } from './lease-items.ts'
import { listPackages } from './list-packages.ts'
import { listThreads } from './list-threads.ts'
import { readCapsule } from './read-capsule.ts'
import { readPackage } from './read-package.ts'
import { readThread } from './read-thread.ts'
import { revokePackage } from './revoke-package.ts'
import { sendDraft } from './send-draft.ts'
import { listSetAside, retrySetAside } from './set-aside.ts'
import { extendLease, failLease, finishLease } from './settle-lease.ts'

/** An operation without a handler does not compile. */
export const handlers: { readonly [Id in GatewayOperationId]: Handler<Id> } = {
  createDraft,
  checkDraft,
  sendDraft,
  revokePackage,
  listThreads,
  readThread,
  listPackages,
  readPackage,
  readCapsule,
  leaseItems,
  finishLease,
  failLease,
  extendLease,
  listSetAside,
  retrySetAside,
}
