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

const GROUP_SIZE = 4
const REQUESTS = 6_000
const QUICK_REQUESTS = 1_000
const MAXIMUM_MS = 60_000
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
    const scenes = [await setScene(world), await setScene(world, { dsx: true })]
    await sendAll(world, scenes, seed, report)
  },
}

async function sendAll(world: World, scenes: readonly Scene[], seed: number, report: Report): Promise<void> {
  const chance = chanceOf(seed)
  const wanted = report.quick ? QUICK_REQUESTS : REQUESTS
  const started = performance.now()
  const stocks = scenes.map(({ make }) => ({ make, ready: new Map<OperationId, OperationRequest>() }))
  const statuses = new Map<number, number>()
  const findings: string[] = []
  let [sent, groups, unchangedGroups] = [0, 0, 0]
  while (sent < wanted && performance.now() - started < MAXIMUM_MS && findings.length < MAXIMUM_FINDINGS) {
    const ids = Array.from({ length: GROUP_SIZE }, () =>
      chance.pick(chance.isLikely(80) ? MUTATIONS : OPERATION_IDS),
    )
    const { make, ready } = chance.pick(stocks)
    for (const id of ids) if (!ready.has(id)) ready.set(id, await make(id))
    const shots = []
    for (const id of ids) shots.push(await mutateRequest(ready.get(id) as OperationRequest, chance))
    const before = await fingerprint(world)
    const fired = await Promise.all(shots.map((fire) => fire()))
    for (const { id, answer } of fired) {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      // A successful request may not be repeatable.
      if (answer.status < 300) ready.delete(id)
    }
    findings.push(...fired.flatMap(findingsOf))
    groups += 1
    sent += fired.length
    if (fired.every(({ answer, raw }) => answer.status >= 300 || raw === undefined)) {
      unchangedGroups += 1
      if ((await fingerprint(world)) !== before)
        findings.push(`a table changed:\n${fired.map(show).join('\n')}`)
    }
  }
  const tally = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  report.line(
    `${sent} requests, ${tally.join(', ')}; tables unchanged in ${unchangedGroups} of ${groups} groups`,
  )
  assert.ok(unchangedGroups > 0, 'every group contained a successful mutation')
  assert.deepEqual(findings, [], `seed ${seed}`)
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
