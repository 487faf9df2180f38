import { isModuleAway, type KeyModule } from '@agent-exchange/pkcs11'
import type { Logger } from 'pino'
import type { PeriodicTask } from '../periodic.ts'

const CHECK_SECONDS = 15

export interface KeyModuleWatch extends PeriodicTask {
  isAway(): boolean
}

/** Notices a module that is away while nothing is signed. */
export function watchKeyModule(module: KeyModule, log: Logger): KeyModuleWatch {
  const { token } = module
  let wasAway = false
  async function run(): Promise<void> {
    try {
      await module.check()
      if (wasAway) log.info({ token }, 'the key module answers again')
      wasAway = false
    } catch (error) {
      if (!isModuleAway(error)) throw error
      if (!wasAway) log.error({ token, err: error }, 'the key module is away')
      wasAway = true
    }
  }
  return { name: 'key module', everySeconds: CHECK_SECONDS, run, isAway: () => wasAway }
}
