/** `npm run trial -- gateway`: two companies with gateways of two instances each, whose parts are killed under load. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createReport, Skipped } from '../shared/report.ts'
import { timedLines } from '../shared/timed-lines.ts'
import { tryFailover } from './try-failover.ts'
import { tryKills } from './try-kills.ts'
import { tryClocks, tryOutage } from './try-outage.ts'
import { startScene } from './scene.ts'

const HELP = `Kills instances, database and key module of two gateways under load; exits 1 if something is lost or repeated.

  npm run test:gateway                     2,000 packages
  npm run test:gateway -- --quick          about 200
  npm run test:gateway -- --questions 20   as many questions of each company under kills; each is answered
  npm run test:gateway -- clocks           one or more of kills, outage, clocks
  npm run test:gateway -- failover         only by name: PostgreSQL fails over; needs Patroni, etcd, HAProxy, PgBouncer

Keys of one company are in SoftHSM where softhsm2, a C++ compiler, make and the npm registry are there.`

const PARTS = { kills: tryKills, outage: tryOutage, clocks: tryClocks } as const
type Part = keyof typeof PARTS
const FAILOVER = 'failover'
const isPart = (name: string) => Object.hasOwn(PARTS, name) || name === FAILOVER

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    questions: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

// The ledger of the kills is compared with everything at the exchange, so they come first.
const wanted = (Object.keys(PARTS) as Part[]).filter(
  (part) => positionals.length === 0 || positionals.includes(part),
)
const questions = options.questions === undefined ? undefined : Number(options.questions)
const isWrong = !positionals.every(isPart) || (questions !== undefined && !(questions > 0))

if (options.help || isWrong) {
  console.log(HELP)
  if (!options.help) process.exitCode = 2
} else {
  const folder = mkdtempSync(join(tmpdir(), 'aex-gateway-'))
  // Started by root, PostgreSQL runs as another user, who must reach its own folder.
  chmodSync(folder, 0o711)
  // A signal alone would not run the exit handlers, which end child processes such as the database.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const report = createReport()
  const line = timedLines()
  const terms = { isQuick: options.quick, questions, report, line }
  if (wanted.length > 0) {
    line('starting an exchange and two gateways of two instances each')
    await using scene = await startScene(folder)
    await report.step('module', 'one company has its keys in SoftHSM', async () => {
      if (!scene.hsm) throw new Skipped(scene.withoutModule)
      return scene.hsm.module
    })
    for (const part of wanted) await PARTS[part](scene, terms)
  }
  if (positionals.includes(FAILOVER)) await tryFailover(folder, terms)
  report.print()
  // A killed connection may still be open.
  process.exit(report.failed() ? 1 : 0)
}
