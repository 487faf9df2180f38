import type { Queries } from '@agent-exchange/database'

/** This file owns the table log_witness. */
export interface WitnessRow {
  readonly name: string
  /** cosigned, ahead, fork, or failed with an error code. */
  readonly outcome: string
  /** The size that it cosigned last. */
  readonly size: number | null
  readonly cosigned_at: string | null
  readonly tried_at: string
}

export async function listWitnesses(queries: Queries): Promise<WitnessRow[]> {
  return queries<
    WitnessRow[]
  >`select name, outcome, size, cosigned_at, tried_at from log_witness order by name`
}

export async function saveWitness(
  queries: Queries,
  { name, outcome, size, now }: { name: string; outcome: string; size: number | undefined; now: string },
): Promise<void> {
  await queries`
    insert into log_witness (name, outcome, size, cosigned_at, tried_at)
    values (${name}, ${outcome}, ${size ?? null}, ${size === undefined ? null : now}, ${now})
    on conflict (name) do update set outcome = excluded.outcome, tried_at = excluded.tried_at,
      size = coalesce(excluded.size, log_witness.size),
      cosigned_at = coalesce(excluded.cosigned_at, log_witness.cosigned_at)`
}

/** Forgets all witnesses except those that are named. */
export async function forgetWitnesses(queries: Queries, kept: readonly string[]): Promise<void> {
  await queries`delete from log_witness where name <> all(${[...kept]})`
}
