import { LRUCache } from 'lru-cache'
import { MAXIMUM_CACHED } from './webhook-limits.ts'

/** The endpoints whose last request from this process succeeded, by organization. */
export function createHealthyEndpoints() {
  const byOrganization = new Map<string, Set<string>>()
  const owners = new LRUCache<string, string>({
    max: MAXIMUM_CACHED,
    dispose(organizationId, endpointId) {
      const own = byOrganization.get(organizationId)
      own?.delete(endpointId)
      if (own?.size === 0) byOrganization.delete(organizationId)
    },
  })

  return {
    add(endpointId: string, organizationId: string): void {
      owners.set(endpointId, organizationId)
      const own = byOrganization.get(organizationId)
      if (own) own.add(endpointId)
      else byOrganization.set(organizationId, new Set([endpointId]))
    },
    remove: (endpointId: string) => void owners.delete(endpointId),
    of: (organizationId: string): Iterable<string> => byOrganization.get(organizationId) ?? [],
  }
}
