/** Resolves when `begin` calls back, and after so many seconds in any case. */
export function atMost(seconds: number, begin: (done: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, seconds * 1_000)
  begin(() => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}
