import { Gauge, type Registry } from 'prom-client'
import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { listKeyEnds } from '../overview/backlog-queries.ts'
import { expiryOf, type UsedCertificates } from '../overview/certificate-expiry.ts'
import { listNotices } from './expiry-store.ts'

const READ_SECONDS = 60
const MAXIMUM_NOTICES = 2_000

interface ExpiryMetricSettings {
  readonly db: Database
  readonly clock: Clock
  /** PEM text of what the process uses now. */
  readonly tls: () => UsedCertificates
  readonly webhookCa: () => string | undefined
}

/** Scraping reads the certificates of this process; the database is read once a minute. */
export function createExpiryMetrics(registry: Registry, settings: ExpiryMetricSettings) {
  const { db, clock, tls, webhookCa } = settings
  const certificates = () => ({
    tls: tls().certificate,
    client_ca: tls().clientCa,
    webhook_ca: webhookCa(),
  })
  const ends = new Gauge({
    name: 'aex_certificate_expiry_timestamp_seconds',
    help: 'When the first certificate of a file expires: tls, client_ca, webhook_ca',
    labelNames: ['certificate'],
    registers: [],
    collect() {
      this.reset()
      for (const [certificate, pem] of Object.entries(certificates())) {
        const end = expiryOf(pem)
        if (end !== null) this.set({ certificate }, Date.parse(end) / 1_000)
      }
    },
  })
  registry.registerMetric(ends)
  const keys = new Gauge({
    name: 'aex_platform_key_expiry_timestamp_seconds',
    help: 'When the last signing key of a purpose ends, read once a minute',
    labelNames: ['purpose'],
    registers: [registry],
  })
  const clients = new Gauge({
    name: 'aex_client_certificates_expiring',
    help: 'Clients whose certificate expires within 14 days or has expired, read once a minute',
    registers: [registry],
  })
  return {
    name: 'expiry metrics',
    everySeconds: READ_SECONDS,
    async run() {
      const keyEnds = await listKeyEnds(db, clock.now())
      const notices = await listNotices(db, MAXIMUM_NOTICES)
      keys.reset()
      for (const { purpose, valid_until } of keyEnds) keys.set({ purpose }, Date.parse(valid_until) / 1_000)
      clients.set(notices.filter(({ subject }) => subject.startsWith('client ')).length)
    },
  }
}
