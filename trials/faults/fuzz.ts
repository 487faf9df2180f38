import assert from 'node:assert/strict'
import {
  OPERATION_IDS,
  operations,
  problemDetails,
  problemsOf,
  validatorOf,
  type Named,
  type OperationId,
} from '@agent-exchange/protocol'
import {
  setScene,
  startWorld,
  type Answer,
  type OperationRequest,
  type Scene,
  type World,
} from '@agent-exchange/testkit'
import { RESIGNED, withHeader } from './fuzz-signing.ts'
import { chanceOf, mutated, ODD_TEXTS, type Chance } from './fuzz-values.ts'
import type { Report, Trial } from './trial.ts'

/** Tables are compared before and after a small group. */
const CHECKED_SIZE = 4
const UNCHECKED_SIZE = 32
const REQUESTS = 6_000
const QUICK_REQUESTS = 1_000
const MAXIMUM_MS = 60_000
/** Later requests come from new organizations, because the old ones reach their quotas. */
const REQUESTS_OF_A_SCENE = 10_000
const MAXIMUM_CHECKED_GROUPS = 1_500
const PROGRESS_LINES = 20
/** The runtime, its caches and the scenes are in memory after a quarter of the requests. */
const MAXIMUM_GROWTH = 1.25
const MAXIMUM_FINDINGS = 10
const SHOWN_CHARACTERS = 600
const MUTATIONS = OPERATION_IDS.filter((id) => operations[id].mutation)
const PROBLEM_MEMBERS = 'code correlation_id details retryable status title type'

/** A mutated request and its response. */
interface Shot {
  readonly id: OperationId
  readonly path: string
  /** False if the path was mutated too, so that another route may have answered. */
  readonly isRouted: boolean
  readonly raw: string | Uint8Array | undefined
  readonly answer: Answer
}

/** Fixed, so that a new failure is caused by a change of the code. AEX_FUZZ_SEED selects another seed. */
const DEFAULT_SEED = 20_260_302

/** Mutates valid requests of all operations. A seed does not reproduce a run exactly, because ids and keys are random. */
export const fuzz: Trial = {
  name: 'fuzz',
  what: '[ERR-01][API-02] no mutated request gets a 5xx; every refused one gets a documented problem and changes nothing',
  async run(report) {
    const seed = Number(process.env['AEX_FUZZ_SEED'] ?? DEFAULT_SEED)
    report.line(`seed ${seed}`)
    await using world = await startWorld({
      profile: { 'O-13': { webhook_endpoints: 1_000 } },
      // Without deliveries, which would write to the tables too.
      config: { role: 'api' },
    })
    await sendAll(world, seed, report)
  },
}

async function sendAll(world: World, seed: number, report: Report): Promise<void> {
  const chance = chanceOf(seed)
  const wanted = report.requests ?? (report.quick ? QUICK_REQUESTS : REQUESTS)
  const limitMs = report.requests === undefined ? MAXIMUM_MS : Infinity
  const isChecked = checkedGroups(wanted)
  const started = performance.now()
  let stocks: Stock[] = []
  let stocksSince = -Infinity
  const statuses = new Map<number, number>()
  const findings: string[] = []
  const memory: number[] = []
  let [sent, checked, unchanged] = [0, 0, 0]
  for (let group = 0; sent < wanted && performance.now() - started < limitMs; group++) {
    if (findings.length >= MAXIMUM_FINDINGS) break
    const ids = Array.from({ length: isChecked(group) ? CHECKED_SIZE : UNCHECKED_SIZE }, () =>
      chance.pick(chance.isLikely(80) ? MUTATIONS : OPERATION_IDS),
    )
    if (sent - stocksSince >= REQUESTS_OF_A_SCENE) {
      stocks = [newStock(await setScene(world)), newStock(await setScene(world, { dsx: true }))]
      stocksSince = sent
    }
    const { make, ready } = chance.pick(stocks)
    for (const id of ids) if (!ready.has(id)) ready.set(id, await make(id))
    const shots = []
    for (const id of ids) shots.push(await mutateRequest(ready.get(id) as OperationRequest, chance))
    const before = isChecked(group) ? await fingerprint(world) : undefined
    const fired = await Promise.all(shots.map((fire) => fire()))
    for (const { id, answer } of fired) {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      // A successful request may not be repeatable.
      if (answer.status < 300) ready.delete(id)
    }
    findings.push(...fired.flatMap(findingsOf))
    sent += fired.length
    if (before !== undefined) {
      checked += 1
      if (fired.every(({ answer, raw }) => answer.status >= 300 || raw === undefined)) {
        unchanged += 1
        if ((await fingerprint(world)) !== before)
          findings.push(`a table changed:\n${fired.map(show).join('\n')}`)
      }
    }
    world.logged.length = 0
    if (report.requests !== undefined && sent >= ((memory.length + 1) * wanted) / PROGRESS_LINES) {
      memory.push(process.memoryUsage().rss)
      report.line(`${sent} requests, ${Math.round((memory.at(-1) ?? 0) / 2 ** 20)} MiB resident`)
    }
  }
  const tally = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  report.line(
    `${sent} requests, ${tally.join(', ')}; tables unchanged in ${unchanged} of ${checked} groups compared`,
  )
  assert.deepEqual(findings, [], `seed ${seed}`)
  assert.ok(unchanged > 0, 'every group contained a successful mutation')
  checkMemory(memory)
}

/** Valid requests of an organization, which are made when they are needed. */
interface Stock {
  readonly make: Scene['make']
  readonly ready: Map<OperationId, OperationRequest>
}

const newStock = ({ make }: Scene): Stock => ({ make, ready: new Map() })

/** A comparison reads every table, so a long run makes them at intervals. */
function checkedGroups(wanted: number): (group: number) => boolean {
  const every = Math.ceil(wanted / (MAXIMUM_CHECKED_GROUPS * CHECKED_SIZE))
  return (group) => group % every === 0
}

/** The client is in the same process as the service: both together must not grow. */
function checkMemory(memory: readonly number[]): void {
  if (memory.length < PROGRESS_LINES) return
  const early = Math.max(...memory.slice(PROGRESS_LINES / 4, PROGRESS_LINES / 2))
  const late = Math.min(...memory.slice(-PROGRESS_LINES / 4))
  assert.ok(late < early * MAXIMUM_GROWTH, `memory grew from ${early} to ${late} bytes`)
}

/** A mutated request, ready to be sent. */
async function mutateRequest(request: OperationRequest, chance: Chance): Promise<() => Promise<Shot>> {
  const { id, by } = request
  const isRouted = chance.isLikely(85)
  const path = isRouted ? withQuery(request.path, chance) : mutatedPath(request, chance)
  if (request.body === undefined) {
    return async () => ({ id, path, isRouted, raw: undefined, answer: await by.get(path) })
  }
  const raw = mutatedText(await mutatedBody(request, chance), chance)
  return async () => ({ id, path, isRouted, raw, answer: await by.post(path, undefined, { raw }) })
}

async function mutatedBody(request: OperationRequest, chance: Chance): Promise<unknown> {
  const change = (document: unknown) => {
    let changed = document
    for (let more = true; more; more = chance.isLikely(25)) changed = mutated(changed, chance)
    return changed
  }
  const resign = RESIGNED[request.id]
  const { body = {} } = request
  if (resign && chance.isLikely(70)) {
    try {
      return await resign(request, change)
    } catch {
      // Content that cannot be canonicalized cannot be signed, so it is sent with the old signature.
      return change(body)
    }
  }
  return chance.isLikely(20) ? withHeader(body, change) : change(body)
}

/** The JSON text, sometimes with bytes removed, changed or added. */
function mutatedText(body: unknown, chance: Chance): string | Uint8Array {
  const text = JSON.stringify(body) ?? ''
  if (!chance.isLikely(12)) return text
  const bytes = Buffer.from(text)
  const at = chance.below(bytes.length)
  switch (chance.below(4)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      bytes[at] = chance.below(256)
      return bytes
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from([0xff, chance.below(256)]),
        bytes.subarray(at),
      ])
    default:
      return `${text}${chance.pick(['', ' ', '\n', '{}', ',', '\0'])}`
  }
}

function mutatedPath({ path }: OperationRequest, chance: Chance): string {
  const parts = path.split('/')
  const at = 2 + chance.below(Math.max(parts.length - 2, 1))
  const odd = chance.pick(ODD_TEXTS).slice(0, 4_000).toWellFormed()
  parts[at] = chance.isLikely(80)
    ? encodeURIComponent(odd)
    : `${parts[at] ?? ''}%${chance.below(256).toString(16)}`
  return parts.join('/')
}

function withQuery(path: string, chance: Chance): string {
  if (!chance.isLikely(40)) return path
  const name = chance.pick(['limit', 'after', 'protocol_version', 'other'])
  const value = encodeURIComponent(chance.pick(ODD_TEXTS).slice(0, 2_000).toWellFormed())
  return `${path}?${name}=${value}`
}

/** Checks a response and returns its defects. */
function findingsOf(shot: Shot): string[] {
  const { answer, id, isRouted } = shot
  const wrong: string[] = []
  if (answer.status >= 500 && answer.status !== 503) wrong.push('an internal failure')
  if (answer.status === 503 && !answer.headers.has('retry-after')) wrong.push('a 503 without Retry-After')
  if (answer.status < 300) {
    const validate = validatorOf(operations[id].success.body as Named<unknown>)
    if (validate(answer.body).length > 0) wrong.push('a success that does not match its schema')
  } else {
    const isProblem =
      (answer.headers.get('content-type') ?? '').startsWith('application/problem+json') &&
      Object.keys(answer.body).toSorted().join(' ') === PROBLEM_MEMBERS &&
      validatorOf(problemDetails).accepts(answer.body)
    if (!isProblem) wrong.push('no problem document')
    const described: readonly string[] = problemsOf(operations[id])
    if (isRouted && !described.includes(String(answer.body['code'])))
      wrong.push('a problem that the operation does not document')
  }
  return wrong.map((reason) => `${reason}: ${show(shot)}`)
}

function show({ id, path, raw, answer }: Shot): string {
  const body = raw === undefined ? '' : JSON.stringify(Buffer.from(raw).toString().slice(0, SHOWN_CHARACTERS))
  return `${id} ${path.slice(0, SHOWN_CHARACTERS)} ${body} → ${answer.status} ${answer.text.slice(0, SHOWN_CHARACTERS)}`
}

/** Changes with every row written, except in tables that token requests and the reports of processes write to. */
async function fingerprint({ sql }: World): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
      and relname not in ('assertion_use', 'activity_minute', 'service_process', 'rate_bucket') order by relname`
  const counts = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) as rows, coalesce(sum(xmin::text::bigint), 0) as writers from "${name}"`,
  )
  return JSON.stringify(await sql.unsafe(`${counts.join(' union all ')} order by name`))
}
