/** A PKCS#11 module in a server: its metrics, and the check while nothing is signed. */
export { createKeyModuleMetrics } from './key-module-metrics.ts'
export { watchKeyModule } from './watch-key-module.ts'
