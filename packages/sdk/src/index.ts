/**
 * The agent's side of Agent Exchange: send, receive, open, answer and prove sealed packages. Runs in browsers too;
 * `@agent-exchange/sdk/node` has what needs Node, `@agent-exchange/edc` the connectors of data spaces.
 *
 * @packageDocumentation
 */

export { connect, type Agent, type CapsuleOptions, type ConnectOptions, type OpenOptions } from './agent.ts'
export type { AgentAddress, AgentContext, Identity } from './context.ts'
export { createContext, type ContextOptions } from './create-context.ts'
export {
  createMemoryDeployment,
  type Deployment,
  type DeploymentChange,
  type DeploymentStore,
  type KnownDeployment,
} from './deployment/deployment.ts'
export {
  EXCHANGE_ERROR_CODES,
  ExchangeError,
  type ErrorCircumstances,
  type ExchangeErrorCode,
} from './errors.ts'

// The agent itself
export { agentFingerprint } from './agent-keys/fingerprint.ts'
export { currentKey, makeAgentKeys, type AgentKeys, type KeyMaking } from './agent-keys/make-keys.ts'
export { registerAgent, type Registration } from './agent-keys/register-agent.ts'
export { revokeKey, type KeyRevocation } from './agent-keys/revoke-key.ts'
export { rotateKey, type RotatedRole, type Rotation } from './agent-keys/rotate-key.ts'
export type { AnswerOf, BodyOf, CallOptions, Connection } from './connection/connection.ts'
export {
  createConnection,
  type ClientAuthentication,
  type ConnectionOptions,
} from './connection/create-connection.ts'
export type { ConnectionLimits } from './connection/connection-limits.ts'
export type { Fetch } from './connection/http-transport.ts'
export {
  readInvitation,
  redeemInvitation,
  type RedeemedClient,
  type Redemption,
} from './connection/redeem-invitation.ts'
export type { KeyRole, KeyStage, KeyStore, NewKey, OwnKey } from './keys/key-store.ts'
export { createMemoryKeyStore } from './keys/memory-key-store.ts'

// Others
export { asUnknownPeer } from './peers/unknown-peer.ts'
export type {
  ConfirmKey,
  KeyChange,
  PeerDirectory,
  PeerKey,
  PeerPins,
  ChangePins,
  PinnedKey,
  PinStore,
} from './peers/peer-directory.ts'
export { createPeerDirectory, type PeerDirectoryOptions } from './peers/create-peer-directory.ts'
export { createMemoryPinStore } from './peers/memory-pin-store.ts'

// Sending
export { newObject, type ObjectOf, type ObjectTerms } from './objects/new-object.ts'
export {
  auditEvent,
  loopThread,
  networkStory,
  policyEnvelope,
  reasoningPackage,
  responseObject,
  type AuditEventContent,
  type Author,
  type FactContent,
  type LoopThreadContent,
  type Makers,
  type NetworkStoryContent,
  type PolicyContent,
  type ReasoningPackageContent,
  type ResponseContent,
} from './objects/makers.ts'
export type { SendDefaults, WithDefaults } from './send/send-defaults.ts'
export type { SendWarning } from './objects/placeholders.ts'
export { evaluatePolicy, type CheckResult, type PolicyEvaluation } from './policy/evaluate-policy.ts'
export type { PolicyCheckId, PolicySettings, PolicySubject, Sensitivity } from './policy/policy-check.ts'
export { createMemoryOutbox } from './outbox/memory-outbox.ts'
export type { Outbox, OutboxChange, OutboxEntry, OutboxState } from './outbox/outbox.ts'
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  RespondInput,
  SendableObject,
  SendDependencies,
  SendInput,
  SendOptions,
  SendProgress,
  SendStep,
  SentPackage,
} from './send/send-input.ts'
export { sendPackage } from './send/send-package.ts'
export { respondToPackage } from './send/respond-to-package.ts'
export { resumeOutbox, type ResumedPackage, type Resumption } from './send/resume-outbox.ts'
export type * from './data-space/data-space-connector.ts'
export type { DataSpace } from './data-space/data-space.ts'
export { backoffMs, pause, type Backoff } from './pause-and-backoff.ts'

// Drafts and approvals
export type { Decision, SignedDecision } from './drafts/approval.ts'
export type {
  DraftInput,
  Drafts,
  DraftState,
  EvaluatedDraft,
  SentDraft,
  StoredDraft,
} from './drafts/draft.ts'

// Opening and withdrawing
export type { OpenDependencies, OpenedPackage, OpenProgress } from './open/open-input.ts'
export { openPackage } from './open/open-package.ts'
export { sendPackageReceipt } from './open/package-receipts.ts'
export {
  revokePackage,
  type RevokedPackage,
  type RevokeDependencies,
  type RevokeInput,
} from './send/revoke-package.ts'
export { explainSignatureFailure, type CandidateKey } from './open/explain-signature.ts'
export type { SignatureFinding, SignedSubject } from './open/signature-finding.ts'

// Receiving
export {
  createReceiver,
  type Receiver,
  type ReceiverOptions,
  type ReceiverStatus,
} from './receive/receiver.ts'
export { rememberedUrl, type EndpointOptions } from './receive/endpoint.ts'
export type * from './receive/inbox.ts'
export type { NotificationPins, PinnedNotificationKey } from './receive/key-pins.ts'
export { RECEIVE_LIMITS, type ReceiveLimits } from './receive/receive-limits.ts'
export { MemoryInbox } from './receive/memory-inbox.ts'
export {
  createNotificationKeys,
  type NotificationKeys,
  type NotificationKeysOptions,
} from './receive/notification-keys.ts'
export type { PackageHandler, ReceivedPackage } from './receive/package-handler.ts'
export { createPackageReceiver, type PackageReceiverOptions } from './receive/package-receiver.ts'
export type { Reply } from './receive/replies.ts'
export type { EventHandler, HandlerCall, SubjectOf } from './receive/process-events.ts'
export type { Activity, OnReport, ReceiverReport } from './receive/reports.ts'
export {
  createWebhookHandler,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './receive/webhook-handler.ts'

// Reading and proving
export { readThread, type ReadThreadOptions } from './connection/read-thread.ts'
export type { EvidenceSubject } from './evidence/package-evidence.ts'
export { readEvidence } from './evidence/read-evidence.ts'
export { checkLog, type AcceptedCheckpoint } from './log/accept-checkpoint.ts'
export { readLiveView } from './log/live-view.ts'
export {
  createMemoryLogState,
  type LogState,
  type LogStateStore,
  type LogTrouble,
  type UnprovedCheckpoint,
} from './log-state.ts'
export { uncheckedSentence, watchLog, type LogWatch } from './log/watch-log.ts'
export type { MonitorFinding } from './monitor/label-scan.ts'
export { monitorLog, type MonitorOptions, type MonitorResult } from './monitor/monitor-log.ts'
export type { MonitorState } from './monitor/monitor-state.ts'
export type { PendingLeaf } from './evidence/logged-leaves.ts'
export { readCapsule, type CollectedCapsule } from './evidence/read-capsule.ts'
export { readEarlierCapsule, type EarlierCapsule } from './evidence/read-earlier-capsule.ts'
export type { WaitForLog } from './evidence/wait-for-log.ts'
export {
  EVIDENCE_FORMAT,
  verifyCapsule,
  verifyEvidence,
  type CapsuleV3,
  type ChainAnchor,
  type Check,
  type EvidenceBundle,
  type EvidenceReport,
  type ExchangeWord,
  type KeyRecord,
  type PackageRecord,
  type ProvedState,
  type UnlinkedEntry,
  type VerifyEvidenceOptions,
} from '@agent-exchange/log'
