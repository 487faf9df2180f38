import { renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { signal } from '../../packages/database/src/embedded/processes.ts'
import type { Scene } from './scene.ts'

/** Time of load before the next kill. */
const EARLIEST_MS = 300
const LATEST_MS = 2_500
/**
 * How long the module is away, at most times and once. The eight attempts of a handler with their pauses take 127 s and up
 * to a fifth more: a module that is away for longer must not cost an event.
 */
const MODULE_AWAY_MS = 1_500
const MODULE_LONG_AWAY_MS = 180_000

const VICTIMS = ['leader', 'instance', 'database', 'module', 'both instances', 'instance'] as const
type Victim = (typeof VICTIMS)[number]

export interface Kills {
  /** How many of each kind. */
  readonly counts: ReadonlyMap<string, number>
  stop(): Promise<void>
}

interface Killing {
  readonly most: number
  readonly databaseKills: number
  /** Without the long time of the module being away. */
  readonly isQuick: boolean
}

/** Kills one part after the other with -9, at moments of chance, until it is stopped. */
export function startKilling(scene: Scene, { most, databaseKills, isQuick }: Killing): Kills {
  const counts = new Map<string, number>()
  const stopping = new AbortController()
  const run = async () => {
    for (let number = 0; number < most && !stopping.signal.aborted; number++) {
      await sleep(EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS))
      const wanted = VICTIMS[number % VICTIMS.length] ?? 'instance'
      const isTooOften = wanted === 'database' && (counts.get('database') ?? 0) >= databaseKills
      const victim = isTooOften ? 'leader' : wanted
      const company = scene.companies[Math.floor(number / 2) % scene.companies.length]
      if (!company || (victim === 'module' && !scene.hsm)) continue
      const isLong = victim === 'module' && !isQuick && !counts.has('module')
      await kill(scene, company, victim, isLong ? MODULE_LONG_AWAY_MS : MODULE_AWAY_MS)
      counts.set(victim, (counts.get(victim) ?? 0) + 1)
    }
  }
  const running = run()
  // Awaited by `stop`; this avoids an unhandled rejection until then.
  running.catch(() => undefined)
  return {
    counts,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function kill(
  scene: Scene,
  company: Scene['companies'][number],
  victim: Victim,
  moduleAwayMs: number,
): Promise<void> {
  if (victim === 'database') return killDatabase(scene)
  if (victim === 'module') return takeModuleAway(scene, moduleAwayMs)
  const [first, second] = company.instances
  if (!first || !second) return
  const leading = (await leads(first.adminUrl)) ? first : second
  const victims =
    victim === 'both instances'
      ? [first, second]
      : victim === 'leader'
        ? [leading]
        : [Math.random() < 0.5 ? first : second]
  for (const instance of victims) signal(instance.current().pid, 'SIGKILL')
  await Promise.all(victims.map((instance) => instance.current().end()))
  await Promise.all(victims.map((instance) => instance.start()))
}

/** The embedded server is started again by this process. */
async function killDatabase({ database }: Scene): Promise<void> {
  const before = database.pid()
  signal(before, 'SIGKILL')
  while (database.pid() === before) await sleep(50)
}

async function takeModuleAway({ hsm }: Scene, moduleAwayMs: number): Promise<void> {
  if (!hsm) return
  renameSync(hsm.tokenFolder, `${hsm.tokenFolder}-away`)
  await sleep(moduleAwayMs)
  renameSync(`${hsm.tokenFolder}-away`, hsm.tokenFolder)
}

async function leads(adminUrl: string): Promise<boolean> {
  const answer = await fetch(`${adminUrl}/metrics`).catch(() => undefined)
  return /^aex_gateway_leading 1$/mu.test((await answer?.text()) ?? '')
}
