import type { CountedPackage, StoryPackage } from './readable-package.ts'
import type { ThreadObjects } from './story-input.ts'
import type { Quote, StoryCompany } from './story-types.ts'

/** Everybody who sent, got, or is named by the exchange; roles as packages give them. */
export function companiesOf(
  { participants = [], reader }: ThreadObjects,
  packages: readonly StoryPackage[],
  counted: readonly CountedPackage[],
): readonly StoryCompany[] {
  const agents = new Map<string, Set<string>>(participants.map((id) => [id, new Set()]))
  for (const { record } of packages)
    for (const { organizationId, agentId } of [record.sentBy, record.sentTo])
      agents.set(organizationId, (agents.get(organizationId) ?? new Set()).add(agentId))
  const roles = new Map<string, Map<string, Quote>>()
  for (const each of counted)
    for (const { organization_id: id, role } of namedBy(each)) {
      const known = roles.get(id) ?? new Map<string, Quote>()
      roles.set(id, known.set(role, known.get(role) ?? each.quote(role)))
    }
  return [...agents].map(([organizationId, found]) => ({
    organizationId,
    isReader: organizationId === reader,
    agents: [...found],
    roles: [...(roles.get(organizationId)?.values() ?? [])],
  }))
}

function namedBy({ object }: CountedPackage): readonly { organization_id: string; role: string }[] {
  if (object.object_type === 'reasoning_package') return object.recipients
  return object.object_type === 'loop_thread' ? object.participants : []
}
