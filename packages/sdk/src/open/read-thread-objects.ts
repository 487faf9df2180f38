import type { PackageResource, ThreadResource } from '@agent-exchange/protocol'
import { MAXIMUM_SHOWN_PAGES } from '../connection/connection-limits.ts'
import { hasNextPage } from '../connection/read-pages.ts'
import type { ReadThreadOptions } from '../connection/read-thread.ts'
import type { Identity } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { PackageContent, ThreadObjects, ThreadPackage } from '../story/story-input.ts'
import type { OpenedPackage } from './open-input.ts'

/** What reading a thread needs of an agent. */
export interface ThreadReader {
  readonly identity: Identity
  thread(
    threadId: string,
    options: Pick<ReadThreadOptions, 'maximumPages'>,
  ): AsyncIterable<Pick<ThreadResource, 'packages' | 'participants' | 'next_cursor' | 'has_more'>>
  open(packageId: string, options: { readonly receipts: 'none' }): Promise<Pick<OpenedPackage, 'object'>>
}

/** Objects that were opened before. What is in a package never changes. */
export interface OpenedObjects {
  get(packageId: string): unknown
  set(packageId: string, object: unknown): void
}

/** Packages whose content is read, the newest ones. */
const MAXIMUM_READ_PACKAGES = 200
const OPENED_AT_ONCE = 8
/** Received packages that were opened before are read again without a receipt. */
const OPENED: ReadonlySet<string> = new Set(['opened', 'responded'])

/** The newest packages of the first MAXIMUM_SHOWN_PAGES of a thread, with what this agent may read of them. Sends no receipt. */
export async function readThreadObjects(
  agent: ThreadReader,
  threadId: string,
  opened: OpenedObjects = new Map(),
): Promise<ThreadObjects & { readonly resources: readonly PackageResource[] }> {
  const resources: PackageResource[] = []
  let participants: readonly string[] = []
  let olderPackages = 0
  let hasNewerPackages = false
  for await (const page of agent.thread(threadId, { maximumPages: MAXIMUM_SHOWN_PAGES })) {
    ;({ participants } = page)
    hasNewerPackages = hasNextPage(page)
    resources.push(...page.packages)
    olderPackages += resources.splice(0, Math.max(0, resources.length - MAXIMUM_READ_PACKAGES)).length
  }
  const packages: ThreadPackage[] = []
  for (let at = 0; at < resources.length; at += OPENED_AT_ONCE) {
    const some = resources.slice(at, at + OPENED_AT_ONCE)
    packages.push(...(await Promise.all(some.map((resource) => recordOf(agent, resource, opened)))))
  }
  const reader = agent.identity.organizationId
  return { threadId, reader, participants, packages, olderPackages, hasNewerPackages, resources }
}

async function recordOf(
  agent: ThreadReader,
  { package_id: packageId, state, created_at: sentAt, metadata }: PackageResource,
  opened: OpenedObjects,
): Promise<ThreadPackage> {
  const { responds_to_package_id: respondsTo, expires_at: expiresAt } = metadata
  const sentBy = { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }
  const sentTo = { organizationId: metadata.recipient_org_id, agentId: metadata.recipient_agent_id }
  const own = agent.identity.agentId
  const isSender = sentBy.agentId === own
  const content: PackageContent =
    sentTo.agentId !== own && !isSender
      ? { missing: 'for_colleague' }
      : !isSender && !OPENED.has(state)
        ? { missing: 'unopened' }
        : await contentOf(agent, packageId, opened)
  return {
    packageId,
    state,
    sentBy,
    sentTo,
    sentAt,
    expiresAt,
    ...(respondsTo !== undefined && { respondsTo }),
    content,
  }
}

async function contentOf(
  agent: ThreadReader,
  packageId: string,
  opened: OpenedObjects,
): Promise<PackageContent> {
  const known = opened.get(packageId)
  if (known !== undefined) return { object: known }
  try {
    const { object } = await agent.open(packageId, { receipts: 'none' })
    opened.set(packageId, object)
    return { object }
  } catch (error) {
    if (error instanceof ExchangeError) return { missing: 'cannot_open', code: error.code }
    throw error
  }
}
