import type { PolicyWitness, ReadTile, VerifierKey } from '@agent-exchange/log'
import type { Queries } from '@agent-exchange/database'
import type { Refusal } from './log-state-store.ts'
import { askWitness, type WitnessAnswer } from './witness-client.ts'
import { listWitnesses, saveWitness } from './witness-store.ts'

export interface CosignatureRequest {
  readonly witnesses: readonly PolicyWitness[]
  readonly size: number
  readonly note: string
  readonly logKey: VerifierKey
  readonly readTile: ReadTile
  readonly now: string
  readonly onAnswer?: (outcome: string) => void
}

export interface Cosignatures {
  readonly lines: readonly string[]
  /** Witnesses that answered, with or without a cosignature. */
  readonly answered: number
  readonly refusal: Refusal | undefined
}

/** Asks all witnesses at once and stores what each of them said. */
export async function collectCosignatures(
  queries: Queries,
  { witnesses, now, onAnswer, ...common }: CosignatureRequest,
): Promise<Cosignatures> {
  const known = new Map((await listWitnesses(queries)).map(({ name, size }) => [name, size ?? 0]))
  const answers = await Promise.all(
    witnesses.map(async (witness) => {
      const answer = await askWitness({ ...common, now, witness, knownSize: known.get(witness.name) ?? 0 })
      onAnswer?.(answer.outcome)
      const size = answer.outcome === 'cosigned' ? common.size : undefined
      const outcome = answer.outcome === 'failed' ? `failed: ${answer.error}` : answer.outcome
      await saveWitness(queries, { name: witness.name, outcome, size, now })
      return { witness, answer }
    }),
  )
  return {
    lines: answers.flatMap(({ answer }) => (answer.outcome === 'cosigned' ? [answer.line] : [])),
    answered: answers.filter(({ answer }) => answer.outcome !== 'failed').length,
    refusal: answers
      .map(({ witness, answer }) => refusalOf(answer, witness.name, common.size))
      .find((refusal) => refusal !== undefined),
  }
}

function refusalOf(answer: WitnessAnswer, witness: string, ownSize: number): Refusal | undefined {
  if (answer.outcome === 'fork') return { reason: 'fork_of_witness', own_size: ownSize, witness }
  if (answer.outcome === 'ahead')
    return { reason: 'behind_witness', known_size: answer.size, own_size: ownSize, witness }
  return undefined
}
