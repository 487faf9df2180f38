import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { listOf, ratioOf, tableOf, type Area, type AreaContext, type AreaResult } from '../area.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { startHelper } from '../processes/calls.ts'
import { residentMegabytes } from '../processes/tree.ts'
import { exactly, inTurns, type Rounds } from '../rounds.ts'
import { median } from '../statistics.ts'
import { askedContent } from './asked-content.ts'
import { buildCommand } from './built-command.ts'
import { callsOf, type GatewayCalls } from './gateway-calls.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { INBOX_WAIT, inboxWait, type InboxWait } from './inbox-wait.ts'
import { findSoftHsm, keySpeed, moduleSettings, type Pace } from './key-speed.ts'
import { invite, pairOf } from './pair.ts'
import type { SdkPairCalls } from './sdk-pair-main.ts'
import { CALLERS, sendAndHandle } from './send-and-handle.ts'

/** A gateway beside the SDK that it is built on. */
export const gatewayArea: Area = {
  name: 'gateway',
  what: 'packages/s through a gateway, compared with the SDK; inbox wait; keys in SoftHSM; memory at rest',
  isLong: true,
  run,
}

interface Plan {
  readonly rounds: Rounds
  readonly packages: number
  readonly waitRounds: number
  readonly waits: number
  readonly pace: Pace
  /** Wait for garbage collection and periodic jobs after the start. */
  readonly restMs: number
}

const FULL: Plan = {
  rounds: exactly(9),
  packages: 400,
  waitRounds: 5,
  waits: 200,
  pace: { repetitions: 5, milliseconds: 1_000 },
  restMs: 20_000,
}
const QUICK: Plan = {
  rounds: { most: 5, least: 3, limitMs: 20_000 },
  packages: 60,
  waitRounds: 2,
  waits: 40,
  pace: { repetitions: 2, milliseconds: 300 },
  restMs: 5_000,
}
const SHARE_OF_SDK = 0.7
const INBOX_WAIT_LIMIT_MS = 5
const MEMORY_LIMIT_MB = 130

interface Contender {
  readonly id: string
  readonly label: string
  readonly measure: (packages: number) => Promise<number>
}

async function run({ quick, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL and an exchange, and compiling the gateway')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const program = await buildCommand()
  const settings = {
    AEX_WEBHOOK_CA: bed.file('gateway-ca.crt', bed.authority.certificate),
    AEX_WEBHOOK_ALLOW_PRIVATE: 'true',
  }
  const exchange = cleanup.use(await bed.exchange('gateway', settings))
  const hsm = await findSoftHsm(bed.folder.path)
  const withModule = typeof hsm === 'string' ? undefined : hsm
  const scene = { bed, exchange, program, cleanup }

  progress('starting a gateway, and waiting until it rests')
  const wrapped = await gatewayPrograms(scene, 'wrapped')
  await sleep(plan.restMs)
  const memory = [residentMegabytes(wrapped.pid)]
  const sdk = await sdkContender(scene)
  const gateway = contenderOf('gateway', 'gateway, keys wrapped in the database', wrapped.programs)
  const inModule = withModule && (await gatewayPrograms(scene, 'softhsm', moduleSettings(withModule)))
  const contenders = [
    sdk,
    gateway,
    ...(inModule ? [contenderOf('gateway_softhsm', 'gateway, keys in SoftHSM', inModule.programs)] : []),
  ]
  const rates = await inTurns(contenders, {
    rounds: plan.rounds,
    measure: ({ measure }) => measure(plan.packages),
    progress,
    show: (perSecond) => `${perSecond.toFixed(1)} packages/s`,
  })
  const waits = await waitRounds(wrapped.programs, plan, progress)
  progress('signatures and agreements')
  const keys = await keySpeed(withModule, plan.pace)
  const ratesOf = (id: string) => rates.get(id) ?? []
  return {
    tables: [
      {
        title: 'Packages sent and handled, receipts and answers of the inbox included',
        columns: [{ id: 'packages_per_second', head: 'packages/s' }],
        rows: contenders.map(({ id, label }) => ({ id, label, values: [ratesOf(id)] })),
      },
      tableOf('From the receiver of the gateway to the answer of a request that waits', INBOX_WAIT, [
        { id: 'inbox_wait', label: 'one package at a time', list: waits },
      ]),
      keys,
      listOf('Memory of an instance at rest', [
        ['gateway_memory_at_rest_mb', 'resident, compiled gateway with two agents, MB', memory],
      ]),
    ],
    ratios: [
      ratioOf(
        'gateway_to_sdk',
        'packages/s of the gateway to the SDK',
        [ratesOf('gateway'), ratesOf('sdk')],
        {
          at: 'least',
          must: SHARE_OF_SDK,
        },
      ),
      ...(inModule
        ? [
            ratioOf('gateway_softhsm_to_wrapped', 'packages/s with SoftHSM to wrapped keys', [
              ratesOf('gateway_softhsm'),
              ratesOf('gateway'),
            ]),
          ]
        : []),
      {
        id: 'inbox_wait_to_limit',
        label: `p50 from receiver to answer, of ${INBOX_WAIT_LIMIT_MS} ms`,
        value: median(waits.map(({ p50Ms }) => p50Ms)) / INBOX_WAIT_LIMIT_MS,
        wanted: { at: 'most', must: 1 },
      },
      {
        id: 'gateway_memory_to_limit',
        label: `memory at rest, of ${MEMORY_LIMIT_MB} MB`,
        value: median(memory) / MEMORY_LIMIT_MB,
        wanted: { at: 'most', must: 1 },
      },
    ],
    notes: [
      'A gateway process runs both agents, and programs in the benchmark use its HTTP interface over TLS. The SDK runs ' +
        'both agents in one process, with the files and SQLite of two folders.',
      'The time of arrival has whole milliseconds, so that a wait is shown up to 1 ms too long.',
      ...(typeof hsm === 'string' ? [`Keys in a module were not measured: ${hsm}.`] : []),
    ],
  }
}

interface Scene {
  readonly bed: TestBed
  readonly exchange: Exchange
  readonly program: string
  readonly cleanup: AsyncDisposableStack
}

/** A gateway and the programs that use it. */
async function gatewayPrograms(
  { bed, exchange, program, cleanup }: Scene,
  name: string,
  module?: Readonly<Record<string, string>>,
): Promise<{ readonly pid: number; readonly programs: readonly GatewayCalls[] }> {
  const terms = { bed, exchange, program, pair: pairOf(name), callers: CALLERS, ...(module && { module }) }
  const gateway = cleanup.use(await startGatewayProcess(terms))
  const { certificate } = bed.authority
  return {
    pid: gateway.pid,
    programs: gateway.keys.map((key) => cleanup.use(callsOf(gateway, key, certificate))),
  }
}

const contenderOf = (id: string, label: string, programs: readonly GatewayCalls[]): Contender => ({
  id,
  label,
  measure: (packages) => sendAndHandle(programs, packages, askedContent()),
})

async function sdkContender({ bed, exchange, cleanup }: Scene): Promise<Contender> {
  const pair = pairOf('sdk')
  const helper = cleanup.use(startHelper<SdkPairCalls>(new URL('sdk-pair-main.ts', import.meta.url)))
  const invitations = {
    asking: await invite(exchange, pair.asking),
    handling: await invite(exchange, pair.handling),
  }
  const folder = join(bed.folder.path, 'sdk-agents')
  await helper.call('open', { folder, invitations, tls: await bed.authority.server() })
  return {
    id: 'sdk',
    label: 'SDK with SQLite, one process',
    measure: (packages) => helper.call('sendAndHandle', packages, askedContent()),
  }
}

async function waitRounds(
  programs: readonly GatewayCalls[],
  plan: Plan,
  progress: AreaContext['progress'],
): Promise<InboxWait[]> {
  const [sender, handler] = programs
  if (!sender || !handler) throw new Error('a wait needs two programs')
  const waits: InboxWait[] = []
  while (waits.length < plan.waitRounds) {
    const measured = await inboxWait([sender, handler], plan.waits, askedContent())
    waits.push(measured)
    progress(`${waits.length}/${plan.waitRounds} inbox wait: p50 ${measured.p50Ms.toFixed(1)} ms`)
  }
  return waits
}
