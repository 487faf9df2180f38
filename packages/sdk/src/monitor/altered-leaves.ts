import { LogError, placeLeaf, type ReadTile } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import type { AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import type { MonitorFinding } from './label-scan.ts'
import { tileReader } from '../log/log-answers.ts'
import { proofOf } from '../evidence/logged-leaves.ts'
import type { Watched, WatchedLabels } from './watched.ts'

interface ScannedLabels {
  readonly labels: WatchedLabels
  /** The index at which each label was found, in this run or before. */
  readonly found: ReadonlyMap<string, number>
  readonly checkpoint: AcceptedCheckpoint
  readonly onStep: (() => Promise<void>) | undefined
}

/**
 * Events that differ from their leaves. Every run compares all of them: an operator can rewrite a record with matching
 * hashes at any time, but not its leaf.
 */
export async function alteredLeaves(
  context: AgentContext,
  { labels, found, checkpoint, onStep }: ScannedLabels,
): Promise<MonitorFinding[]> {
  const readTile = tileReader(context, checkpoint.size)
  const findings: MonitorFinding[] = []
  for (const [label, watched] of labels) {
    const { index, leaf, what } = watched
    // A label at another place is found by comparing places.
    if (!leaf || index === undefined || found.get(label) !== index) continue
    await onStep?.()
    if (!(await isInLog(watched, leaf, checkpoint, readTile)))
      findings.push({
        kind: 'altered',
        index,
        sentence: `What the exchange shows of ${what} differs from leaf ${index} of the log.`,
      })
  }
  return findings
}

async function isInLog(
  { index = 0, proof }: Watched,
  leaf: Uint8Array,
  checkpoint: AcceptedCheckpoint,
  readTile: ReadTile,
): Promise<boolean> {
  try {
    const text = await proofOf({ index, ...(proof !== undefined && { proof }) }, checkpoint, readTile)
    return placeLeaf(leaf, text, checkpoint).index === index
  } catch (error) {
    if (error instanceof LogError) return false
    throw error
  }
}
