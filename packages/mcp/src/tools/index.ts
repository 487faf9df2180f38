import type { Tool } from '../server/tool.ts'
import { describeAgent } from './describe-agent.ts'
import { finishEvent } from './finish-event.ts'
import { followThread } from './follow-thread.ts'
import { listInbox } from './list-inbox.ts'
import { listThreads } from './list-threads.ts'
import { readPackage } from './read-package.ts'
import { revokePackage } from './revoke-package.ts'
import { verifyCapsule } from './verify-capsule.ts'

/** In the order in which a client lists them. */
export const TOOLS: readonly Tool[] = [
  describeAgent,
  listInbox,
  listThreads,
  readPackage,
  finishEvent,
  followThread,
  revokePackage,
  verifyCapsule,
]
