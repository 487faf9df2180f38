import { isModuleAway, type KeyModule, openModule } from '@agent-exchange/pkcs11'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { Base } from './base.ts'
import type { ProcessMetrics } from './process-metrics.ts'

const CHECK_SECONDS = 15

/** The module that holds the signing keys, if there is one. Closed with the process. */
export function openKeyModule(
  { config, cleanup }: Base,
  { keyModule }: ProcessMetrics,
): KeyModule | undefined {
  if (!config.keyModule) return undefined
  return cleanup.use(openModule({ ...config.keyModule, onCall: keyModule.onCall }))
}

/** Notices a module that is away while nothing is signed. A service without one has no such task. */
export function keyModuleTasks(module: KeyModule | undefined, { log }: Base): readonly PeriodicTask[] {
  if (!module) return []
  let wasAway = false
  async function run(): Promise<void> {
    try {
      await module?.check()
      if (wasAway) log.info({ token: module?.token }, 'the key module answers again')
      wasAway = false
    } catch (error) {
      if (!isModuleAway(error)) throw error
      if (!wasAway) log.error({ token: module?.token, err: error }, 'the key module is away')
      wasAway = true
    }
  }
  return [{ name: 'key module', everySeconds: CHECK_SECONDS, run }]
}
