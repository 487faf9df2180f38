/** The wake-up call for delivery workers, with the endpoints that have something; they also look by themselves. */
export const DELIVERY_CHANNEL = 'aex_delivery'
/** A payload of PostgreSQL has less than 8,000 bytes. An empty one says: look everywhere. */
export const MAXIMUM_NAMED_ENDPOINTS = 150

type OrganizationStatus = 'active' | 'suspended'

/** The payload that says that an organization was suspended, or is active again. */
export const organizationCall = (organizationId: string, status: OrganizationStatus) =>
  `${status}:${organizationId}`

export function readOrganizationCall(payload: string) {
  const [status, organizationId] = payload.split(':', 2)
  if (organizationId === undefined || (status !== 'active' && status !== 'suspended')) return undefined
  return { organizationId, status } as const
}
