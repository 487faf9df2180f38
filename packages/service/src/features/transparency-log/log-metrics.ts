import { Counter, Gauge, type Registry } from 'prom-client'
import type { LogStatus } from './log-status.ts'

/** Every process reads the status of the log, so it is shown even if no process sequences. The one that does is faster. */
export function createLogMetrics(registry: Registry) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  const pending = gauge('aex_log_pending_leaves', 'Leaves that wait for the transparency log')
  const oldest = gauge(
    'aex_log_oldest_pending_seconds',
    'How long the oldest leaf waits for a published checkpoint that covers it',
  )
  const size = gauge('aex_log_size', 'Leaves in the transparency log')
  const published = gauge('aex_log_published_size', 'Leaves that the published checkpoint covers')
  const publishedAt = gauge('aex_log_published_timestamp_seconds', 'When the last checkpoint was published')
  const refusing = gauge('aex_log_refusing', '1 while the transparency log refuses to sign')
  const witnesses = new Counter({
    name: 'aex_log_witness_answers_total',
    help: 'Answers of witnesses to this process: cosigned, ahead, fork, failed',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return {
    onStatus(status: LogStatus): void {
      pending.set(status.pending_leaves)
      oldest.set(status.oldest_pending_seconds)
      size.set(status.size)
      published.set(status.published_size)
      if (status.last_checkpoint_at !== null) publishedAt.set(Date.parse(status.last_checkpoint_at) / 1_000)
      refusing.set(status.refusal ? 1 : 0)
    },
    onPublished(leaves: number, time: string): void {
      published.set(leaves)
      publishedAt.set(Date.parse(time) / 1_000)
    },
    onRefusal: (isRefusing: boolean) => refusing.set(isRefusing ? 1 : 0),
    onWitness: (outcome: string) => witnesses.inc({ outcome }),
  }
}

export type LogMetrics = ReturnType<typeof createLogMetrics>
