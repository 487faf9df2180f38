import type { KeyProvider } from '@agent-exchange/crypto'
import { deferToCommit, type Database } from '@agent-exchange/database'
import { parsePolicy } from '@agent-exchange/log'
import { connect, type Fetch } from '@agent-exchange/sdk'
import { openDrafts } from '@agent-exchange/sdk/internal'
import { recordAuthor } from '../approvals/draft-authors.ts'
import { passkeyApprovals } from '../approvals/passkey-approvals.ts'
import { openPostgresDeployment, openPostgresLogState } from '../stores/agent-states.ts'
import { keepSent } from '../content/keep-sent.ts'
import { openContentStore } from '../content/open-content-store.ts'
import { openPostgresDraftStore, type DraftHooks } from '../stores/draft-store.ts'
import { openPostgresKeyStore } from '../stores/key-store.ts'
import { openPostgresOutbox } from '../stores/outbox.ts'
import { openPostgresPinStore } from '../stores/pin-store.ts'
import type { SecretBox } from '../stores/secret-box.ts'
import { requireShare } from '../systems/program-drafts.ts'
import type { RegisteredAgent } from './agent-registry.ts'
import type { HostedAgent } from './hosted-agent.ts'

export interface AgentDependencies {
  readonly db: Database
  readonly box: SecretBox
  readonly now: () => Date
  /** AEX_GATEWAY_PUBLIC_URL: passkeys of approvers are bound to its host name. */
  readonly publicUrl: string
  readonly keyProvider?: KeyProvider
  readonly fetch?: Fetch
}

/** Connects an agent with its stores in the database. Sends nothing: the exchange may be out of reach. */
export async function openHostedAgent(
  { db, box, now, publicUrl, keyProvider, fetch }: AgentDependencies,
  { agentId, organizationId, baseUrl, clientId, settings }: RegisteredAgent,
): Promise<HostedAgent> {
  const outbox = openPostgresOutbox(db, agentId)
  const contents = openContentStore({ db, box, clock: { now: () => now().toISOString() } })
  const { defaults, trust } = settings
  const logPolicy = settings.logPolicy === undefined ? undefined : parsePolicy(settings.logPolicy)
  const agent = await connect({
    baseUrl,
    clientId,
    identity: { organizationId, agentId },
    keys: openPostgresKeyStore(db, agentId, { box, ...(keyProvider && { provider: keyProvider }) }),
    pins: openPostgresPinStore(db, agentId),
    log: openPostgresLogState(db, agentId),
    deployment: openPostgresDeployment(db, agentId),
    outbox,
    now,
    lazily: true,
    ...(defaults && { defaults }),
    ...(trust && { trust }),
    ...(logPolicy && { logPolicy }),
    ...(fetch && { fetch }),
  })
  const onSent: DraftHooks['onSent'] = (tx, content) => keepSent(tx, contents, agentId, content)
  const approvals = passkeyApprovals(db, { agentId, publicUrl })
  const draftsWith = (hooks: DraftHooks) =>
    openDrafts(agent.context, {
      store: openPostgresDraftStore(db, agentId, box, hooks),
      approvals,
      shared: { outbox },
    })
  return {
    agentId,
    organizationId,
    agent,
    drafts: draftsWith({ onSent }),
    draftsBy: (author) =>
      draftsWith({
        onSent,
        onAdded(tx, draftId) {
          deferToCommit(tx, recordAuthor(tx, { agentId, draftId, author }))
          return requireShare(tx, { agentId, draftId, author })
        },
      }),
    outbox,
    ...(logPolicy && { logPolicy }),
  }
}
