import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testAuthority } from '@agent-exchange/testkit'
import { startExchange } from '../shared/exchange.ts'
import { findInstalledPostgres, startInstalledPostgres } from '../shared/installed-postgres.ts'
import { Skipped } from '../shared/report.ts'
import { killed } from '../shared/serve-process.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { allPass } from './judge-own-service.ts'
import { LOOPBACK_RECEIVER, operatorHooks, threeOrganizations } from './own-service.ts'

/** No hook moves the clock of a real process, and its clients have keys. */
const SKIPPED = [
  'webhooks/seven-attempts',
  'webhooks/results-by-clock',
  'webhooks/retry-after-by-clock',
  'authentication/certificate-binding',
]

/** `aex serve` with its own PostgreSQL, killed and restarted in the middle. */
export async function tryEmbedded({ report, folder }: TrialTools): Promise<void> {
  await report.step('service', 'aex serve passes with the embedded PostgreSQL', () =>
    servePasses(folder, 'embedded'),
  )
}

/** `aex serve` on a PostgreSQL that somebody else runs. */
export async function tryOutside({ report, folder }: TrialTools): Promise<void> {
  await report.step('service', 'aex serve passes with an installed PostgreSQL', async () => {
    const installed = await findInstalledPostgres()
    if (!installed) throw new Skipped('there is no installed PostgreSQL')
    await using server = await startInstalledPostgres(installed)
    return `PostgreSQL ${installed.version}: ${await servePasses(folder, 'outside', server.url)}`
  })
}

async function servePasses(folder: string, name: string, databaseUrl?: string): Promise<string> {
  const authority = await testAuthority()
  const { certificate, key } = await authority.server()
  const ca = join(folder, `${name}-webhook-ca.pem`)
  writeFileSync(ca, authority.certificate)
  await using exchange = await startExchange({
    ...(databaseUrl !== undefined && { databaseUrl }),
    env: { AEX_WEBHOOK_CA: ca, AEX_WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  const restart = async () => {
    await killed(exchange.current())
    await exchange.start()
  }
  const underTest = {
    baseUrl: exchange.url,
    organizations: await threeOrganizations(exchange),
    webhooks: { ...LOOPBACK_RECEIVER, certificate, key },
    hooks: { ...operatorHooks(exchange), restart },
  }
  return await allPass(underTest, name, SKIPPED)
}
