import { createHash } from 'node:crypto'
import { draftPackage, freshId, submit, type Organization, type World } from '@agent-exchange/testkit'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'
import { copyRows, nameSql, type Replacement } from './copy-rows.ts'
import { organizationTemplates, templatesOf, type RowTemplate } from './row-templates.ts'

/** Senders, and as many receivers, that exist beside the real organizations. */
const CROWD = 5_000
const DEEP_THREAD = 10_000
const ROWS_AT_ONCE = 5_000
const CONNECTIONS = 4
const LOADERS = 2

/** An exchange with much data: many organizations, a long stream, a long thread. */
export interface StoredWorld {
  readonly sender: Organization
  /** Receives every second package. */
  readonly busy: Organization
  /** The other party of the deep thread. */
  readonly partner: Organization
  readonly deepThread: string
  /** Names of a package that the busy organization received. */
  anyPackage(): { packageId: string; threadId: string }
  /** Copies packages until this many are stored. */
  grow(to: number, progress: (done: number) => void): Promise<void>
}

export async function makeStoredWorld(world: World, database: DatabaseTarget): Promise<StoredWorld> {
  const [sender, busy, partner] = await Promise.all(
    ['growth_a', 'growth_b', 'growth_c'].map((name) => world.organization(name)),
  )
  if (!sender || !busy || !partner) throw new Error('nobody to trade')
  const usual = await sendOne(sender, busy, database)
  const deep = await sendOne(sender, partner, database)
  await addCrowd(sender, database)
  await deepen(deep, database)
  let stored = 0
  return {
    sender,
    busy,
    partner,
    deepThread: deep.metadata.thread_id,
    anyPackage() {
      const n = 2 * Math.floor((Math.random() * stored) / 2) + 1
      return { packageId: nameIn('pkg', 'package', n), threadId: nameIn('thread', 'thread', n) }
    },
    async grow(to, progress) {
      const ranges: { from: number; to: number }[] = []
      for (let from = stored + 1; from <= to; from += ROWS_AT_ONCE) {
        ranges.push({ from, to: Math.min(to, from + ROWS_AT_ONCE - 1) })
      }
      await using db = open(database, CONNECTIONS)
      const [stream] = await db<{ last: number }[]>`
        select last_sequence as last from notification_stream where organization_id = ${busy.organizationId}`
      // Existing notifications of the busy organization keep their numbers.
      const others = (stream?.last ?? 0) - Math.floor((stored + 1) / 2)
      const replace = inCrowd(usual, busy, others)
      let done = stored
      const loader = async () => {
        for (let range = ranges.shift(); range; range = ranges.shift()) {
          await copyRows(db, usual.templates, { kind: 'usual', ...range, replace })
          done += range.to - range.from + 1
          progress(done)
        }
      }
      await Promise.all(Array.from({ length: LOADERS }, loader))
      stored = to
      await settle(database)
    },
  }
}

interface Sample {
  readonly from: Organization
  readonly to: Organization
  readonly metadata: Awaited<ReturnType<typeof draftPackage>>['metadata']
  readonly templates: readonly RowTemplate[]
}

async function sendOne(from: Organization, to: Organization, database: DatabaseTarget): Promise<Sample> {
  const draft = await draftPackage(from, to)
  // An id of this form becomes another one in each copy.
  const answer = await submit(from, draft, { correlationId: freshId('corr') })
  if (answer.status !== 202) throw new Error(answer.text)
  await using db = open(database)
  return { from, to, metadata: draft.metadata, templates: await templatesOf(db, draft.metadata) }
}

const nameIn = (prefix: string, what: string, n: number) =>
  `${prefix}_${createHash('md5').update(`${what} ${n}`).digest('hex')}`

/** Copy n: from one of the crowd to another, or, every second time, to the busy organization. */
function inCrowd({ from, to, metadata }: Sample, busy: Organization, others: number) {
  const [sender, receiver] = [`((n - 1) % ${CROWD})`, `((n / 2 - 1) % ${CROWD})`]
  const isBusy = 'n % 2 = 1'
  return (template: RowTemplate): Replacement[] => [
    [metadata.package_id, nameSql('pkg', 'package')],
    [metadata.thread_id, nameSql('thread', 'thread')],
    [from.organizationId, `'org_growth_s' || ${sender}`],
    [from.agentId, `'agent_growth_s' || ${sender}`],
    [
      to.organizationId,
      `case when ${isBusy} then '${busy.organizationId}' else 'org_growth_r' || ${receiver} end`,
    ],
    [to.agentId, `case when ${isBusy} then '${busy.agentId}' else 'agent_growth_r' || ${receiver} end`],
    ...sequenceIn(template, from.organizationId, {
      own: `((n - 1) / ${CROWD} + 1)`,
      other: `(case when ${isBusy} then (n + 1) / 2 + ${others} else (n / 2 - 1) / ${CROWD} + 1 end)`,
    }),
  ]
}

/** Numbers in both spellings: as a column, and inside the notification's own JSON. */
function sequenceIn(
  { table, text }: RowTemplate,
  sender: string,
  { own, other }: { own: string; other: string },
): Replacement[] {
  if (table !== 'notification') return []
  const row = JSON.parse(text) as { organization_id: string; sequence: number }
  const next = row.organization_id === sender ? own : other
  return [
    [`"sequence":${row.sequence},`, `'"sequence":' || ${next} || ','`],
    [`\\"sequence\\":${row.sequence},`, `'\\"sequence\\":' || ${next} || ','`],
  ]
}

/** Of an audit record, as columns and inside its entries. */
function positionsIn({ table, text }: RowTemplate): Replacement[] {
  if (table !== 'audit_record') return []
  const { last_position: last } = JSON.parse(text) as { last_position: number }
  const moved = (position: number) => `(${position} + n * ${last})`
  return [
    [`"first_position":1,`, `'"first_position":' || ${moved(1)} || ','`],
    [`"last_position":${last},`, `'"last_position":' || ${moved(last)} || ','`],
    ...Array.from({ length: last }, (_, index): Replacement => [
      `\\"position\\":${index + 1},`,
      `'\\"position\\":' || ${moved(index + 1)} || ','`,
    ]),
  ]
}

/** A thread of ten thousand packages between two organizations. */
async function deepen({ from, metadata, templates }: Sample, database: DatabaseTarget): Promise<void> {
  await using db = open(database)
  const ofPackage = templates.filter(({ table }) => table !== 'thread')
  const replace = (template: RowTemplate): Replacement[] => {
    const { sequence } = JSON.parse(template.text) as { sequence?: number }
    const next = `(n + ${sequence ?? 0})`
    return [
      [metadata.package_id, nameSql('pkg', 'deep')],
      [metadata.thread_id, `'${metadata.thread_id}'`],
      [`"thread_position":1,`, `'"thread_position":' || (n + 1) || ','`],
      ...positionsIn(template),
      ...sequenceIn(template, from.organizationId, { own: next, other: next }),
    ]
  }
  for (let start = 1; start < DEEP_THREAD; start += ROWS_AT_ONCE) {
    const to = Math.min(DEEP_THREAD, start + ROWS_AT_ONCE) - 1
    await copyRows(db, ofPackage, { kind: 'deep', from: start, to, replace })
  }
  await db`
    update thread set package_count = (select count(*) from package where thread_id = ${metadata.thread_id}),
      audit_count = (select max(last_position) from audit_record where thread_id = ${metadata.thread_id})
    where thread_id = ${metadata.thread_id}`
}

async function addCrowd({ organizationId, agentId }: Organization, database: DatabaseTarget): Promise<void> {
  await using db = open(database)
  const templates = await organizationTemplates(db, organizationId, agentId)
  for (const kind of ['s', 'r']) {
    const replace = (): Replacement[] => [
      [organizationId, `'org_growth_${kind}' || n`],
      [agentId, `'agent_growth_${kind}' || n`],
    ]
    await copyRows(db, templates, { kind, from: 0, to: CROWD - 1, replace })
  }
}

/** Updates counters to the streams, and runs vacuum. */
async function settle(database: DatabaseTarget): Promise<void> {
  await using db = open(database)
  await db.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await tx`
      insert into notification_stream (organization_id, last_sequence)
      select organization_id, max(sequence) from notification group by organization_id
      on conflict (organization_id) do update set last_sequence = excluded.last_sequence`
  })
}
