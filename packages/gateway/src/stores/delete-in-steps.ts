/** One run of a deletion; the next one continues. */
const LONGEST_RUN_MS = 60_000

/**
 * Repeats a deletion of at most `rowsAStep` rows until nothing is left, so that no step holds locks for long. Returns how
 * many rows were deleted.
 */
export async function deleteInSteps(
  rowsAStep: number,
  step: (rows: number) => Promise<{ readonly count: number }>,
  signal?: AbortSignal,
): Promise<number> {
  const ended = AbortSignal.any([AbortSignal.timeout(LONGEST_RUN_MS), ...(signal ? [signal] : [])])
  let deleted = 0
  for (let count = rowsAStep; count === rowsAStep && !ended.aborted; deleted += count)
    ({ count } = await step(rowsAStep))
  return deleted
}
