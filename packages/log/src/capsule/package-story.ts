import type { EvidenceBundle } from '../evidence/evidence-bundle.ts'
import type { EvidenceReport } from '../evidence/evidence-report.ts'
import type { DisclosedContent, PackageStory, SignedStatement } from './capsule-result.ts'

/** By package. */
interface Added {
  /** Up to when the exchange states that nothing more was recorded. */
  readonly ends: ReadonlyMap<string, string>
  readonly disclosed?: ReadonlyMap<string, DisclosedContent> | undefined
}

/** What each package is, and what is signed about it. */
export function packageStories(
  { packages, entries }: Pick<EvidenceBundle, 'packages' | 'entries'>,
  { states, checks }: EvidenceReport,
  { ends, disclosed }: Added,
): PackageStory[] {
  const byId = new Map(states.map((state) => [state.packageId, state]))
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]))
  const byPackage = Map.groupBy(checks, ({ package_id }) => package_id)
  return packages.map(({ metadata, positions }): PackageStory => {
    const { package_id: packageId, responds_to_package_id: respondsTo } = metadata
    const { state, signedState } = byId.get(packageId) ?? {}
    const acceptedAt = positions
      .map((position) => byPosition.get(position)?.proof)
      .find((proof) => proof?.kind === 'package_accepted')?.recorded_at
    const end = ends.get(packageId)
    const content = disclosed?.get(packageId)
    return {
      packageId,
      from: { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id },
      to: { organizationId: metadata.recipient_org_id, agentId: metadata.recipient_agent_id },
      transport: metadata.transport_mode,
      ...(respondsTo !== undefined && { respondsTo }),
      ...(acceptedAt !== undefined && { acceptedAt }),
      state,
      signedState,
      signed: statementsIn(byPackage.get(packageId) ?? []),
      ...(end !== undefined && { completeUpTo: end }),
      ...(content && { disclosed: content }),
    }
  })
}

function statementsIn(checks: EvidenceReport['checks']): SignedStatement[] {
  return checks.flatMap(({ code, result, agent_id, values }): SignedStatement[] => {
    const kind = code === 'receipt_signature' ? values?.['state'] : 'revoked'
    const isStatement = code === 'receipt_signature' || code === 'revocation_signature'
    if (!isStatement || result === 'fails' || agent_id === undefined) return []
    const by = { organizationId: String(values?.['organization_id'] ?? ''), agentId: agent_id }
    return [{ kind: String(kind), by, at: String(values?.['said_at'] ?? '') }]
  })
}
