/** The service as one call: `startService(config)`. */
export * from './config/index.ts'
export * from './service.ts'
/** Makes the partitions that a start makes, for databases that are prepared ahead of one. */
export { makePartitions } from './features/retention/make-partitions.ts'
export type { Clock } from '@agent-exchange/server/clock'
