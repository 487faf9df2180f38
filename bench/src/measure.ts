/** Calls per second of each repetition, after a warm-up. */
export async function measure(
  call: () => unknown,
  { repetitions, milliseconds }: { readonly repetitions: number; readonly milliseconds: number },
): Promise<number[]> {
  await repeat(call, milliseconds / 2, 1)
  const rates: number[] = []
  while (rates.length < repetitions) rates.push(await repeat(call, milliseconds, 1))
  return rates
}

/** Calls per second at a given concurrency. */
export async function repeat(call: () => unknown, milliseconds: number, inFlight: number): Promise<number> {
  const start = performance.now()
  const end = start + milliseconds
  let calls = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      await call()
      calls++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (calls * 1_000) / (performance.now() - start)
}
