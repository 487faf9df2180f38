/**
 * The agent's side of Agent Exchange: send, receive, open, answer and prove sealed packages. Runs in browsers too;
 * `@agent-exchange/sdk/node` has what needs Node, `@agent-exchange/edc` the connectors of data spaces.
 *
 * @packageDocumentation
 */

export { connect, type Agent, type CapsuleOptions, type ConnectOptions, type OpenOptions } from './agent.ts'
export type { AgentAddress, Identity } from './context.ts'
export {
  EXCHANGE_ERROR_CODES,
  ExchangeError,
  type ErrorCircumstances,
  type ExchangeErrorCode,
} from './errors.ts'

// Before the first connection
export { makeAgentKeys, type AgentKeys, type KeyMaking } from './agent-keys/make-keys.ts'
export {
  readInvitation,
  redeemInvitation,
  type RedeemedClient,
  type Redemption,
} from './connection/redeem-invitation.ts'

// Stores, each with one in memory
export {
  createMemoryDeployment,
  type Deployment,
  type DeploymentChange,
  type DeploymentStore,
  type KnownDeployment,
} from './deployment/deployment.ts'
export type { KeyRole, KeyStage, KeyStore, NewKey, OwnKey } from './keys/key-store.ts'
export { createMemoryKeyStore } from './keys/memory-key-store.ts'
export {
  createMemoryLogState,
  type LogState,
  type LogStateStore,
  type LogTrouble,
  type UnprovedCheckpoint,
} from './log-state.ts'
export { createMemoryOutbox } from './outbox/memory-outbox.ts'
export type { Outbox, OutboxChange, OutboxEntry, OutboxState } from './outbox/outbox.ts'
export { createMemoryPinStore } from './peers/memory-pin-store.ts'
export type {
  ChangePins,
  ConfirmKey,
  KeyChange,
  PeerKey,
  PeerPins,
  PinnedKey,
  PinStore,
} from './peers/peer-directory.ts'
export type {
  BegunAttempt,
  Effect,
  EventSource,
  EventState,
  Gap,
  GapReason,
  Inbox,
  InboxEvent,
  InboxPosition,
  IncomingEvent,
  Lease,
  ListOrder,
  PageStored,
  PageToStore,
  PendingAcknowledgement,
  StoreOutcome,
  StreamName,
} from './receive/inbox.ts'
export type { NotificationPins, PinnedNotificationKey } from './receive/key-pins.ts'
export { MemoryInbox } from './receive/memory-inbox.ts'

// What the methods of an agent take and give
export type { Registration } from './agent-keys/register-agent.ts'
export type { KeyRevocation } from './agent-keys/revoke-key.ts'
export type { RotatedRole, Rotation } from './agent-keys/rotate-key.ts'
export type { ConnectionLimits } from './connection/connection-limits.ts'
export type { Fetch } from './connection/http-transport.ts'
export type { ReadThreadOptions } from './connection/read-thread.ts'
export type {
  AuditEventContent,
  FactContent,
  LoopThreadContent,
  Makers,
  NetworkStoryContent,
  PolicyContent,
  ReasoningPackageContent,
  ResponseContent,
} from './objects/makers.ts'
export type { SendWarning } from './objects/placeholders.ts'
export type { CheckResult } from './policy/evaluate-policy.ts'
export type { PolicyCheckId, PolicySettings, Sensitivity } from './policy/policy-check.ts'
export type { SendDefaults, WithDefaults } from './send/send-defaults.ts'
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  RespondInput,
  SendableObject,
  SendInput,
  SendOptions,
  SendProgress,
  SendStep,
  SentPackage,
} from './send/send-input.ts'
export type { ResumedPackage, Resumption } from './send/resume-outbox.ts'
export type { RevokedPackage, RevokeInput } from './send/revoke-package.ts'
export type { OpenedPackage, OpenProgress } from './open/open-input.ts'
export type { SignatureFinding } from './open/signature-finding.ts'
export type { Decision, SignedDecision } from './drafts/approval.ts'
export type {
  DraftInput,
  Drafts,
  DraftState,
  EvaluatedDraft,
  SentDraft,
  StoredDraft,
} from './drafts/draft.ts'
export type { EndpointOptions } from './receive/endpoint.ts'
export type { PackageHandler, ReceivedPackage } from './receive/package-handler.ts'
export type { PackageReceiverOptions } from './receive/package-receiver.ts'
export type { EventHandler, HandlerCall, SubjectOf } from './receive/process-events.ts'
export type { ReceiveLimits } from './receive/receive-limits.ts'
export type { Receiver, ReceiverOptions, ReceiverStatus } from './receive/receiver.ts'
export type { Reply } from './receive/replies.ts'
export type { Activity, OnReport, ReceiverReport } from './receive/reports.ts'
export type { WebhookHandler } from './receive/webhook-handler.ts'
export type { EvidenceSubject } from './evidence/package-evidence.ts'
export type { PendingLeaf } from './evidence/logged-leaves.ts'
export type { CollectedCapsule } from './evidence/read-capsule.ts'
export type { EarlierCapsule } from './evidence/read-earlier-capsule.ts'
export type { WaitForLog } from './evidence/wait-for-log.ts'
export { threadStory } from './story/thread-story.ts'
export type { PackageContent, ThreadObjects, ThreadPackage } from './story/story-input.ts'
export type {
  AgreedRule,
  AnsweredPackage,
  ComparedItem,
  ConversationEntry,
  Deadline,
  DecidedRule,
  DisputedRule,
  DueAnswer,
  Handling,
  LoopPhase,
  LoopStanding,
  OpenRule,
  ProposedRule,
  Quote,
  Source,
  StoryCompany,
  StoryFact,
  StoryPoint,
  StoryRule,
  StoryTitle,
  StoryVersion,
  ThreadStory,
  UnreadableReason,
  VersionChange,
} from './story/story-types.ts'
export type { AcceptedCheckpoint } from './log/accept-checkpoint.ts'

// Data spaces: what a connector implements
export type { DataSpace } from './data-space/data-space.ts'
export type {
  AcquireRequest,
  Acquisition,
  ConnectorFailure,
  ContractCondition,
  ContractTerms,
  CounterParty,
  DataSpaceConnector,
  FetchOptions,
  Progress,
  ProgressStep,
  PublishedAsset,
  PublishRequest,
  WaitOptions,
  WithdrawalReport,
  WithdrawalStep,
} from './data-space/data-space-connector.ts'
