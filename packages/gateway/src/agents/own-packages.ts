import type { PackageMetadata, ThreadResource } from '@agent-exchange/protocol'
import {
  ExchangeError,
  type CapsuleOptions,
  type CollectedCapsule,
  type EvidenceSubject,
  type RevokedPackage,
} from '@agent-exchange/sdk'
import { isPartyOf, isRecipientOf, isSenderOf, MAXIMUM_SHOWN_PAGES } from '@agent-exchange/sdk/internal'
import type { HostedAgent } from './hosted-agent.ts'

/**
 * The packages of one agent, for callers that are limited to agents. The exchange shows each agent the packages of its
 * whole organization, and may let it revoke and answer them (O-46). Here, a package of another agent is unknown.
 */

type Waiting = { readonly signal?: AbortSignal }
type Revocation = Parameters<HostedAgent['agent']['revoke']>[1]

/** Of a package that was sent to this agent. */
export function readAnswerable(
  hosted: HostedAgent,
  packageId: string,
  how?: Waiting,
): Promise<PackageMetadata> {
  return metadataOf(hosted, packageId, { is: isRecipientOf, ...how })
}

/** Revokes a package that this agent sent. */
export async function revokeOwn(
  hosted: HostedAgent,
  packageId: string,
  reason: Revocation,
): Promise<RevokedPackage> {
  await metadataOf(hosted, packageId, { is: isSenderOf })
  return hosted.agent.revoke(packageId, reason)
}

export function capsuleOfOwn(
  { agent }: HostedAgent,
  subject: EvidenceSubject,
  how?: CapsuleOptions,
): Promise<CollectedCapsule> {
  return agent.capsule(subject, { ...how, of: 'agent' })
}

/** The thread with the packages of this agent only, at most MAXIMUM_SHOWN_PAGES. Without any in them, it is unknown. */
export async function* threadOfOwn(
  { agent }: HostedAgent,
  threadId: string,
  how?: Waiting,
): AsyncGenerator<ThreadResource> {
  let isKnown = false
  for await (const page of agent.thread(threadId, { ...how, maximumPages: MAXIMUM_SHOWN_PAGES })) {
    const packages = page.packages.filter(({ metadata }) => isPartyOf(agent.identity, metadata))
    isKnown ||= packages.length > 0
    yield { ...page, packages }
  }
  if (!isKnown) throw new ExchangeError('package_not_for_us')
}

async function metadataOf(
  { agent }: HostedAgent,
  packageId: string,
  { is, signal }: Waiting & { readonly is: typeof isPartyOf },
): Promise<PackageMetadata> {
  const { metadata } = await agent.context.connection.call('getPackage', {
    path: { package_id: packageId },
    ...(signal && { signal }),
  })
  if (!is(agent.identity, metadata)) throw new ExchangeError('package_not_for_us')
  return metadata
}
