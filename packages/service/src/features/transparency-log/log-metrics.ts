import { Counter, Gauge, type Registry } from 'prom-client'

/** Set by the process that sequences; others leave them at 0. */
export function createLogMetrics(registry: Registry) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const pending = gauge('aex_log_pending_leaves', 'Leaves that wait for the transparency log')
  const oldest = gauge('aex_log_oldest_pending_seconds', 'How long the oldest of these leaves has waited')
  const size = gauge('aex_log_size', 'Leaves in the transparency log')
  const published = gauge('aex_log_published_size', 'Leaves that the published checkpoint covers')
  const publishedAt = gauge('aex_log_published_timestamp_seconds', 'When the last checkpoint was published')
  const refusing = gauge('aex_log_refusing', '1 while the transparency log refuses to sign')
  const witnesses = new Counter({
    name: 'aex_log_witness_answers_total',
    help: 'Answers of witnesses: cosigned, ahead, fork, failed',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return {
    onWaiting(waiting: { readonly leaves: number; readonly seconds: number }): void {
      pending.set(waiting.leaves)
      oldest.set(waiting.seconds)
    },
    onSize: (leaves: number) => size.set(leaves),
    onPublished(leaves: number, time: string): void {
      published.set(leaves)
      publishedAt.set(Date.parse(time) / 1_000)
    },
    onRefusal: (isRefusing: boolean) => refusing.set(isRefusing ? 1 : 0),
    onWitness: (outcome: string) => witnesses.inc({ outcome }),
  }
}

export type LogMetrics = ReturnType<typeof createLogMetrics>
