/** Prints lines with the seconds since this call. */
export function timedLines(): (text: string) => void {
  const started = performance.now()
  return (text) => console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(7)} s  ${text}`)
}
