import type { NotificationEnvelope, PackageResource } from '@agent-exchange/protocol'
import { ExchangeError, type AgentAddress } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { POLL_WAIT_MS, SHOWN_EVENTS, SHOWN_PACKAGES, SHOWN_THREADS } from './desk-limits.ts'

export interface ThreadSummary {
  readonly threadId: string
  readonly packages: number
  readonly last: NotificationEnvelope
  /** Events that no handler of the agent has processed. */
  readonly pending: number
}

/** Reads new events into the inbox and leaves them for the agent. Returns why that failed. */
export async function fetchEvents(agent: FolderAgent): Promise<string | undefined> {
  const receiver = agent.receiver({ inbox: agent.inbox(), handle: async () => undefined })
  const polled = receiver.poll().then(
    () => undefined,
    (error: unknown) =>
      error instanceof ExchangeError ? error.message : 'New events could not be read from the exchange.',
  )
  const waited = new Promise<string>((resolve) => {
    setTimeout(
      resolve,
      POLL_WAIT_MS,
      'The exchange has not answered yet. Reload the page for new events.',
    ).unref()
  })
  return Promise.race([polled, waited])
}

/** Threads of the stored events, newest first. */
export async function threadsOf(agent: FolderAgent): Promise<readonly ThreadSummary[]> {
  const inbox = agent.inbox()
  const [pending, processed, aside] = await Promise.all(
    (['pending', 'processed', 'set_aside'] as const).map((state) =>
      inbox.list(state, SHOWN_EVENTS, 'newest'),
    ),
  )
  const events = [...(pending ?? []), ...(processed ?? []), ...(aside ?? [])]
    .map(({ body, state }) => ({ event: JSON.parse(body) as NotificationEnvelope, state }))
    .toSorted((left, right) => right.event.sequence - left.event.sequence)
  const threads = Map.groupBy(events, ({ event }) => event.thread_id)
  return [...threads].slice(0, SHOWN_THREADS).flatMap(([threadId, found]) => {
    const [newest] = found
    if (!newest) return []
    return [
      {
        threadId,
        packages: new Set(found.map(({ event }) => event.package_id)).size,
        last: newest.event,
        pending: found.filter(({ state }) => state === 'pending').length,
      },
    ]
  })
}

/** The other company of a package; undefined if the exchange does not show the package. */
export async function counterpartOf(
  agent: FolderAgent,
  packageId: string,
): Promise<AgentAddress | undefined> {
  try {
    const path = { package_id: packageId }
    const signal = AbortSignal.timeout(POLL_WAIT_MS)
    const { metadata } = await agent.context.connection.call('getPackage', { path, signal })
    return metadata.sender_org_id === agent.identity.organizationId
      ? { organizationId: metadata.recipient_org_id, agentId: metadata.recipient_agent_id }
      : { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }
  } catch (error) {
    if (error instanceof ExchangeError) return undefined
    throw error
  }
}

/** The newest packages of a thread, oldest first, and how many older ones there are. */
export async function packagesOf(
  agent: FolderAgent,
  threadId: string,
): Promise<{ readonly packages: readonly PackageResource[]; readonly older: number }> {
  const packages: PackageResource[] = []
  let older = 0
  for await (const page of agent.thread(threadId)) {
    packages.push(...page.packages)
    older += packages.splice(0, Math.max(0, packages.length - SHOWN_PACKAGES)).length
  }
  return { packages, older }
}
