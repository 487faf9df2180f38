import type { Tool } from '../server/tool.ts'
import { answerPackage } from './answer-package.ts'
import { checkDraft } from './check-draft.ts'
import { describeAgent } from './describe-agent.ts'
import { discardDraft } from './discard-draft.ts'
import { draftPackage } from './draft-package.ts'
import { finishEvent } from './finish-event.ts'
import { followThread } from './follow-thread.ts'
import { listDrafts } from './list-drafts.ts'
import { listInbox } from './list-inbox.ts'
import { listThreads } from './list-threads.ts'
import { readPackage } from './read-package.ts'
import { revokePackage } from './revoke-package.ts'
import { sendDraft } from './send-draft.ts'
import { verifyCapsule } from './verify-capsule.ts'

/** In the order in which a client lists them. */
export const TOOLS: readonly Tool[] = [
  describeAgent,
  listInbox,
  listThreads,
  listDrafts,
  readPackage,
  finishEvent,
  followThread,
  draftPackage,
  answerPackage,
  checkDraft,
  sendDraft,
  discardDraft,
  revokePackage,
  verifyCapsule,
]
