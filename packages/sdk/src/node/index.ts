/**
 * What an agent on Node adds: its folder with keys, pins, outbox and inbox on disk, listeners for webhooks, mutual TLS.
 *
 * @packageDocumentation
 */

export {
  createAgentFolder,
  setExchangeAccess,
  type AgentFolder,
  type ExchangeAccess,
  type NewAgentFolder,
} from './agent-folder.ts'
export { connectFolder, type FolderAgent, type FolderOptions } from './connect-folder.ts'
export { joinExchange, type JoinedExchange, type JoinOptions } from './join-exchange.ts'
export type { Pending } from './pending.ts'

// Stores on disk
export { openFileDeployment } from './file-deployment.ts'
export { openFileKeyStore, type FileKeyStoreOptions } from './file-key-store.ts'
export { openFileLogState } from './file-log-state.ts'
export { openFilePinStore } from './file-pin-store.ts'
export { openSqliteInbox, type SqliteInbox } from './sqlite-inbox.ts'
export { openSqliteOutbox, type SqliteOutbox } from './sqlite-outbox.ts'

// Listeners and mutual TLS
export { fastifyWebhook, type FastifyLike, type FastifyWebhookOptions } from './fastify-handler.ts'
export { toNodeListener } from './http-handler.ts'
export { createTlsFetch, type TlsFetch, type TlsMaterial } from './mutual-tls.ts'
