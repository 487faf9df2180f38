/**
 * What an agent on Node adds: its folder with keys, pins, outbox and inbox on disk, listeners for webhooks, mutual TLS.
 *
 * @packageDocumentation
 */

export {
  adoptAgentFolder,
  AGENT_FILES,
  createAgentFolder,
  openAgentFolder,
  setExchangeAccess,
  type AgentFolder,
  type ExchangeAccess,
  type NewAgentFolder,
} from './agent-folder.ts'
export {
  approveDraft,
  approverOf,
  initApprover,
  replaceApprover,
  resetApprover,
  type ApproverOptions,
  type DraftDecision,
} from './approve-draft.ts'
export type { ApprovalScope, Approver } from './approver-file.ts'
export { readAgentDefaults, readAgentTrust, setAgentDefaults, setAgentTrust } from './agent-settings.ts'
export { connectFolder, type FolderAgent, type FolderOptions } from './connect-folder.ts'
export { publishDeskAddress, readDeskAddress } from './desk-address.ts'
export { fastifyWebhook, type FastifyLike, type FastifyWebhookOptions } from './fastify-handler.ts'
export { openFileDeployment } from './file-deployment.ts'
export { openFileKeyStore, type FileKeyStoreOptions } from './file-key-store.ts'
export { openFileLogState } from './file-log-state.ts'
export { readMonitorState, writeMonitorState } from './file-monitor-state.ts'
export { openFilePinStore } from './file-pin-store.ts'
export { joinExchange, type JoinedExchange, type JoinOptions } from './join-exchange.ts'
export { toNodeListener } from './http-handler.ts'
export { createTlsFetch, type TlsFetch, type TlsMaterial } from './mutual-tls.ts'
export type { Pending } from './pending.ts'
export { openSqliteInbox, type SqliteInbox } from './sqlite-inbox.ts'
export { openSqliteOutbox, type SqliteOutbox } from './sqlite-outbox.ts'
