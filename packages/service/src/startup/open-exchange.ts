import { createSecretKey } from 'node:crypto'
import { deriveSecret } from '@agent-exchange/server/master-key'
import { platformIdentity } from '../features/agents/platform-identity.ts'
import { namesSeveralHosts } from '../config/index.ts'
import { openLog } from '../features/transparency-log/open-log.ts'
import type { Context } from '../kernel/context.ts'
import { createDirectClaims } from '../kernel/direct-claims.ts'
import { randomId } from '../kernel/ids.ts'
import { openPlatformKeys } from '../platform-keys/platform-keys.ts'
import type { Base } from './base.ts'
import { openKeyModule } from './open-key-module.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import type { WatchedFiles } from './watched-files.ts'

export type Exchange = Awaited<ReturnType<typeof openExchange>>

/** The keys of the platform, and what features know of the process that they run in. */
export async function openExchange(base: Base, { masterKeys }: WatchedFiles, metrics: ProcessMetrics) {
  const { config, db, clock, schema } = base
  const keyModule = openKeyModule(base, metrics)
  const { profile, publicUrl, issuer, webhook } = config
  const platformKeys = await openPlatformKeys({
    db,
    masterKeys,
    module: keyModule,
    profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
  const { secrets } = platformKeys
  const directClaims = createDirectClaims()
  const context: Context = {
    profile,
    clock,
    newId: randomId,
    publicUrl,
    externalIssuer: issuer,
    platform: platformKeys.signer,
    webhookKeys: platformKeys.webhook,
    allowPrivateReceivers: webhook.allowPrivate,
    hasSeveralDatabaseHosts: namesSeveralHosts(config),
    macKey: createSecretKey(deriveSecret(secrets.mac(), 'cursors')),
    evidenceVersion: schema.evidenceVersion,
    directClaims,
    onPackageState: metrics.writes.onPackageState,
  }
  const logKeys = await openLog(db, context, platformKeys)
  return { context, platformKeys, logKeys, directClaims, keyModule }
}
