import { named, shortIdentifier, type Html } from '@agent-exchange/web'
import { readOrganizationNames } from '../operator/routes/organizations.ts'
import type { CallApi } from './console-page.ts'
import { agentPath, organizationPath } from './links.ts'

/** Names of organizations by their ids. */
export type Names = ReadonlyMap<string, string>

/** For what a page shows. */
export async function namesOf(api: CallApi, ids: Iterable<string>): Promise<Names> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const { items } = await api(readOrganizationNames, { input: { organization_id: wanted } })
  return new Map(items.map(({ organization_id, name }) => [organization_id, name]))
}

export function nameOf(names: Names, organizationId: string): string {
  return names.get(organizationId) ?? organizationId
}

/** An organization by its name, with what belongs to it below. */
export function organizationLink(names: Names, organizationId: string, below?: Html): Html {
  return named({
    name: nameOf(names, organizationId),
    id: organizationId,
    href: organizationPath(organizationId),
    ...(below && { below }),
  })
}

/** A party of a package: its organization by name, and its agent. */
export function party(names: Names, organizationId: string, agentId: string): Html {
  return organizationLink(names, organizationId, shortIdentifier(agentId, agentPath(agentId)))
}
