/** The service as one call: `startService(config)`. */
export * from './config/index.ts'
export * from './service.ts'
export { makePartitions } from './features/retention/make-partitions.ts'
export type { Clock } from './kernel/clock.ts'
