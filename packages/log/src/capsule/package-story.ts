import type { EvidenceBundle } from '../evidence/evidence-bundle.ts'
import type { EvidenceReport } from '../evidence/evidence-report.ts'
import type { PackageStory } from './capsule-result.ts'

/** One plain sentence for each package. */
export function packageStories(
  { packages, entries }: Pick<EvidenceBundle, 'packages' | 'entries'>,
  { states }: EvidenceReport,
): PackageStory[] {
  const byId = new Map(states.map((state) => [state.packageId, state]))
  const byPosition = new Map(entries.map((entry) => [entry.position, entry]))
  return packages.map(({ metadata, positions }) => {
    const { package_id: packageId } = metadata
    const found = byId.get(packageId)
    const accepted = positions
      .map((position) => byPosition.get(position)?.proof)
      .find((proof) => proof?.kind === 'package_accepted')
    const acceptedAt = accepted ? `, which the exchange accepted at ${accepted.recorded_at},` : ''
    const answers =
      metadata.responds_to_package_id === undefined
        ? ''
        : ` in response to ${metadata.responds_to_package_id}`
    const sentence =
      `${metadata.sender_agent_id} of ${metadata.sender_org_id} sent package ${packageId}${acceptedAt} to ` +
      `${metadata.recipient_agent_id} of ${metadata.recipient_org_id}${answers}; ${stateText(found)}.`
    return { packageId, sentence }
  })
}

function stateText(found: EvidenceReport['states'][number] | undefined): string {
  if (!found) return 'its state is not proved'
  const { state, signedState } = found
  if (state === signedState) return `signatures prove that it is ${words(state)}`
  if (signedState === undefined)
    return `the exchange says that it is ${words(state)}, and no signature proves it`
  return `the exchange says that it is ${words(state)}, and signatures prove that it was ${words(signedState)}`
}

function words(state: string): string {
  return state.replaceAll('_', ' ')
}
