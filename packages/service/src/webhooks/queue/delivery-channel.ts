/** NOTIFY channel for delivery workers. The payload lists endpoints with new deliveries. */
export const DELIVERY_CHANNEL = 'aex_delivery'
/** A NOTIFY payload is limited to 8,000 bytes. An empty payload means: any endpoint may have new deliveries. */
export const MAXIMUM_NAMED_ENDPOINTS = 150

type OrganizationStatus = 'active' | 'suspended'

/** The payload that announces the new status of an organization. */
export const organizationCall = (organizationId: string, status: OrganizationStatus) =>
  `${status}:${organizationId}`

export function readOrganizationCall(payload: string) {
  const [status, organizationId] = payload.split(':', 2)
  if (organizationId === undefined || (status !== 'active' && status !== 'suspended')) return undefined
  return { organizationId, status } as const
}
