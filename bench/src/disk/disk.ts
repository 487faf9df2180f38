import { listOf, type Area, type AreaContext, type AreaResult } from '../area.ts'
import { measureLives } from './measured-lives.ts'
import type { StoredPart } from './stored-bytes.ts'

/** What a package leaves on the disk. */
export const diskArea: Area = {
  name: 'disk',
  what: 'bytes that a package leaves in each table and index, beyond its content',
  isLong: true,
  run,
}

const FULL = { warmUp: 500, packages: 5_000 }
const QUICK = { warmUp: 100, packages: 1_000 }
/** Smaller parts are summed up. */
const SHOWN_BYTES = 20
/** The goal of the third release: half of what the second one kept for ever. */
const GOAL_BYTES = 8_000

async function run(context: AreaContext): Promise<AreaResult> {
  const plan = context.quick ? QUICK : FULL
  const { stored, walBytes } = await measureLives(context, { name: 'disk', ...plan })
  const beyond = stored.filter(({ kind }) => kind !== 'content')
  const forever = sum(stored.filter(({ kind }) => kind === 'evidence'))
  return {
    tables: [
      listOf('Bytes of a package beyond its content, by table and index', [
        ...Object.values(Object.groupBy(beyond, ({ table }) => table))
          .map((parts = []) => parts)
          .toSorted((left, right) => sum(right) - sum(left))
          .filter((parts) => sum(parts) >= SHOWN_BYTES)
          .flatMap(rowsOf),
        ['disk_beyond_content', 'all tables and indexes beyond content', [sum(beyond)]],
      ]),
      listOf('Bytes of a package, by how long they are kept', [
        ['disk_evidence', 'evidence and log: rows, for ever', [sum(kept(stored, 'evidence', false))]],
        [
          'disk_evidence_indexes',
          'evidence and log: indexes, for ever',
          [sum(kept(stored, 'evidence', true))],
        ],
        ['disk_deliveries', 'deliveries', [sum(kept(stored, 'deliveries'))]],
        ['disk_notifications', 'notifications', [sum(kept(stored, 'notifications'))]],
        ['disk_retries', 'responses for exact retries', [sum(kept(stored, 'retries'))]],
        ['disk_content', 'sealed content', [sum(kept(stored, 'content'))]],
        ['disk_wal', 'write-ahead log, until it is recycled', [walBytes]],
      ]),
    ],
    ratios: [
      {
        id: 'disk_forever_to_goal',
        label: `bytes a package leaves for ever, of ${GOAL_BYTES}`,
        value: forever / GOAL_BYTES,
        wanted: { at: 'most', must: 1 },
      },
    ],
    notes: [
      `Differences of two readings after vacuum full, ${plan.packages} packages apart. A package has its policy receipt, ` +
        'submission, lookup, download, two signed receipts and six webhooks. TOAST counts as rows.',
    ],
  }
}

const sum = (parts: readonly StoredPart[]) => parts.reduce((total, { bytes }) => total + bytes, 0)

const kept = (parts: readonly StoredPart[], kind: StoredPart['kind'], isIndex?: boolean) =>
  parts.filter(
    (part) => part.kind === kind && (isIndex === undefined || isIndex === (part.index !== undefined)),
  )

function rowsOf(parts: readonly StoredPart[]) {
  return parts
    .toSorted((left, right) => Number(left.index !== undefined) - Number(right.index !== undefined))
    .filter(({ bytes }) => bytes >= SHOWN_BYTES)
    .map(({ table, index, bytes }) => {
      const label = index === undefined ? table : `  ${table}: ${index}`
      return [`disk_${label.trim().replaceAll(/\W+/gu, '_')}`, label, [bytes]] as const
    })
}
