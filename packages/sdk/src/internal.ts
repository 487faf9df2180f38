/**
 * What the CLI, the desk, the MCP server and the connectors of this repository need beyond the public entry. It promises nothing:
 * names come and go between releases.
 *
 * @packageDocumentation
 */

export { agentFingerprint } from './agent-keys/fingerprint.ts'
export type { DraftApprovals, DraftSubject } from './drafts/draft-approvals.ts'
export { isDraftId, type DraftDocument } from './drafts/draft-document.ts'
export {
  APPROVAL_MAXIMUM_AGE_MS,
  MAXIMUM_DRAFT_BYTES,
  MAXIMUM_OPEN_DRAFTS,
  MAXIMUM_SENT_DRAFTS,
} from './drafts/draft-limits.ts'
export {
  draftRecord,
  draftSent,
  draftUnreadable,
  newDraftRecord,
  sentDraftRecord,
  type DraftRecord,
  type DraftStore,
  type SentDraftRecord,
} from './drafts/draft-store.ts'
export { openDrafts } from './drafts/open-drafts.ts'
export { privateKeyHeldBy } from './keys/held-key.ts'
export { describeKey, missing, useOf, withKey, withRevocation, withStages } from './keys/key-rules.ts'
export type { AgentContext } from './context.ts'
export { readLiveView } from './log/live-view.ts'
export { uncheckedSentence, watchLog } from './log/watch-log.ts'
export type { MonitorFinding } from './monitor/label-scan.ts'
export type { MonitorState } from './monitor/monitor-state.ts'
export { monitorLog, type MonitorResult } from './monitor/monitor-log.ts'
export { makersOf } from './objects/makers.ts'
export { hasNextPage } from './connection/read-pages.ts'
export { MAXIMUM_SHOWN_PAGES } from './connection/connection-limits.ts'
export { readThread } from './connection/read-thread.ts'
export { newObject, type ObjectTerms } from './objects/new-object.ts'
export { inReadingOrder, labelOf, leadOf, outlineOf, titleOf, type Member } from './objects/object-outline.ts'
export { backoffMs, pause } from './pause-and-backoff.ts'
export { createSerially } from './peers/serially.ts'
export { asUnknownPeer } from './peers/unknown-peer.ts'
export { isPartyOf, isRecipientOf, isSenderOf } from './evidence/package-parties.ts'
export { readThreadObjects, type OpenedObjects, type ThreadReader } from './open/read-thread-objects.ts'
export {
  ACTION_WORDS,
  CHANGE_WORDS,
  deadlineWords,
  modelUseWords,
  entryWords,
  NEWER_UNREAD,
  NO_PHASE,
  PART_WORDS,
  PHASE_WORDS,
  phaseWords,
  ruleWords,
  SHOWN_WORDS,
  stateWords,
  STORY_HEADINGS,
  STORY_STATUS_WORDS,
  titleWords,
  UNREADABLE_WORDS,
} from './story/story-words.ts'
export { byDeadline, deadlineAt } from './story/deadline.ts'
export { storyText } from './story/story-text.ts'
export { rememberedUrl } from './receive/endpoint.ts'
export { foreignInbox } from './receive/inbox-rules.ts'
export { missingRanges, withoutSequence } from './receive/sequence-ranges.ts'
export { createWebhookHandler } from './receive/webhook-handler.ts'
export { hasSensitivity } from './policy/prohibited-disclosure.ts'
export { SENSITIVITIES, type Sensitivity } from './policy/policy-check.ts'
