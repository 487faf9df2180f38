/** Resolves at Ctrl-C, at SIGTERM, and when standard output closes. A second signal ends the process. */
export function interruption(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = () => {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    process.stdout.off('error', stop)
    resolve()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  process.stdout.on('error', stop)
  return promise
}
