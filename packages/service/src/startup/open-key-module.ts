import { type KeyModule, openModule } from '@agent-exchange/pkcs11'
import type { Base } from './base.ts'
import type { ProcessMetrics } from './process-metrics.ts'

/** The module that holds the signing keys, if there is one. Closed with the process. */
export function openKeyModule(
  { config, cleanup }: Base,
  { keyModule }: ProcessMetrics,
): KeyModule | undefined {
  if (!config.keyModule) return undefined
  return cleanup.use(openModule({ ...config.keyModule, onCall: keyModule.onCall }))
}
