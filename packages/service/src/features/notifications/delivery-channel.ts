/** The wake-up call for delivery workers, with the endpoints that have something; they also look by themselves. */
export const DELIVERY_CHANNEL = 'aex_delivery'
/** A payload of PostgreSQL has less than 8,000 bytes. An empty one says: look everywhere. */
export const MAXIMUM_NAMED_ENDPOINTS = 150
