export { readPackageOf } from './desk-agent.ts'
export type {
  DeskAgent,
  DraftDecision,
  ReadPackage,
  ReceivedDeadline,
  ThreadSummary,
  WaitingWork,
} from './desk-agent.ts'
export { createDeskApp, type DeskApp, type DeskAppOptions } from './desk-app.ts'
export type { DeskAnswer, DeskPage, HostCall, HostRoute } from './desk-call.ts'
export type { DeskHost, EntranceRequest } from './desk-host.ts'
export type { DeskSession, DeskSessions } from './desk-session.ts'
export {
  CONTENT_ROLES,
  DESK_ROLES,
  EVIDENCE_ROLES,
  hasOneOf,
  type DeskPerson,
  type DeskRole,
  type DeskRoles,
} from './desk-person.ts'
export { DeskRefusal } from './desk-refusal.ts'
export { passkeyForm } from './passkey-form.ts'
export type { DecisionState, PasskeyDecisions } from './passkey-decisions.ts'
export { DeskPortUnusable, startDesk, type Desk, type DeskOptions } from './desk-server.ts'
export { endingKeysOf } from './ending-keys.ts'
export { threadsOfInbox } from './threads-of-inbox.ts'
