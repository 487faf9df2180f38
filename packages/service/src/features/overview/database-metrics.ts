import { Gauge, type Registry } from 'prom-client'

interface DatabaseSource {
  /** Undefined: the embedded database, which is not pinged. */
  readonly secondsSinceAnswer: (() => number) | undefined
  /** Whether the database is on a disk of this machine. */
  readonly isEmbedded: boolean
}

/** Values that this process has in memory; scraping asks nobody. */
export function createDatabaseMetrics(
  registry: Registry,
  { secondsSinceAnswer, isEmbedded }: DatabaseSource,
) {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  if (secondsSinceAnswer) {
    const help = 'Seconds since the database last answered a ping as the primary; pings leave every second'
    gauge('aex_database_answer_age_seconds', help, secondsSinceAnswer)
  }
  let disk = { free: 0, total: 0 }
  if (isEmbedded) {
    gauge('aex_database_disk_free_bytes', 'Free space on the disk of the embedded database', () => disk.free)
    gauge('aex_database_disk_size_bytes', 'Size of the disk of the embedded database', () => disk.total)
  }
  return {
    onDisk: (bytes: { readonly free: number; readonly total: number }): void => void (disk = bytes),
  }
}
