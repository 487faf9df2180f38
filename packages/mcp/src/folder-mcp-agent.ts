import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { readAddressBook, readDeskAddress } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { shownPackage } from './content/opened-package.ts'
import { readPolicies } from './content/policies.ts'
import { threadsOfInbox } from './content/thread-index.ts'
import type { McpAgent, WaitingEvent } from './mcp-agent.ts'

/** An agent in a folder, for the tools. `policies`: folder with the policies that a person wrote. */
export function folderMcpAgent(
  agent: FolderAgent,
  { policies, now }: { readonly policies: string; readonly now: () => Date },
): McpAgent {
  return {
    identity: agent.identity,
    context: agent.context,
    drafts: agent.drafts,
    fingerprint: () => agent.fingerprint(),
    thread: (threadId, options) => agent.thread(threadId, options),
    revoke: (packageId, reason) => agent.revoke(packageId, reason),
    capsule: (subject, options) => agent.capsule(subject, options),
    // The exchange decides whether an agent may answer for another one of its organization (O-46).
    async answerable(packageId, { signal }) {
      const path = { package_id: packageId }
      return (await agent.context.connection.call('getPackage', { path, signal })).metadata
    },
    policies: () => readPolicies(policies),
    async waitingEvents(limit) {
      const inbox = agent.inbox()
      await agent.receiver({ inbox, handle: () => Promise.resolve() }).poll()
      const stored = await inbox.list('pending', limit)
      const { pending } = await inbox.position()
      return {
        events: stored.map(({ body }) => shownEvent(JSON.parse(body) as NotificationEnvelope)),
        waiting: pending,
      }
    },
    finishEvent: (eventId) => agent.inbox().finish(eventId, now().toISOString()),
    threads: async (limit) => (await threadsOfInbox(agent)).slice(0, limit),
    async read(packageId, { signal, onProgress }) {
      const opened = await agent.open(packageId, {
        signal,
        ...(onProgress && { onProgress: ({ step }) => onProgress(step) }),
      })
      return shownPackage(opened, agent.identity.agentId)
    },
    async deskPage(draftId) {
      const address = await readDeskAddress(agent.folder.files.desk)
      return address === undefined ? undefined : `${address}drafts/${draftId}`
    },
    addressBook: () => readAddressBook(agent.folder.files.settings),
  }
}

function shownEvent(envelope: NotificationEnvelope): WaitingEvent {
  const { event_id, sequence, event_type, occurred_at, package_id, thread_id, state } = envelope
  return { event_id, sequence, event_type, occurred_at, package_id, thread_id, state }
}
