import { join } from 'node:path'
import { pino, type Logger } from 'pino'
import { masterKeyOf, type Config } from './config/index.ts'
import { migrate, openDatabase, startEmbedded, type ConnectionSettings, type Database } from './db/index.ts'
import { createAcceptance } from './features/packages/acceptance.ts'
import { removeExpired } from './features/retention/retention.ts'
import { createAgentServer } from './http/agent-server.ts'
import { createMetrics } from './http/metrics.ts'
import { registerPages } from './http/pages/register-pages.ts'
import { createRateLimit } from './http/rate-limit.ts'
import { systemClock, type Clock } from './kernel/clock.ts'
import type { Context } from './kernel/context.ts'
import { randomId } from './kernel/ids.ts'
import { deriveSecret } from './kernel/master-key.ts'
import { startPeriodic } from './kernel/periodic.ts'
import { openPlatformKeys, type PlatformKeys } from './kernel/platform-keys.ts'
import { oauthAddresses } from './oauth/addresses.ts'
import { purgeAssertions } from './oauth/assertion-use.ts'
import { createAuthorizationServer } from './oauth/authorization-server.ts'
import { createCertificateReader } from './oauth/client-certificate.ts'
import { embeddedIssuer, outsideIssuer } from './oauth/token-keys.ts'
import { createTokenVerifier } from './oauth/token-verifier.ts'
import { ensureFirstOperator } from './operator/first-operator.ts'
import { createOperatorServer } from './operator/server.ts'

export interface ServiceOptions {
  readonly clock?: Clock
  readonly log?: Logger
  /** Progress of the start, for a person. */
  readonly progress?: (line: string) => void
}

/** Disposing of it drains: no new request is taken, those under way are answered, then everything stops. */
export interface RunningService extends AsyncDisposable {
  readonly urls: { readonly agent: string; readonly operator: string }
  readonly operatorTokenFile: string
  /** Resolves when the embedded database died and could not be brought back. */
  readonly failed: Promise<Error>
}

const MAXIMUM_CONNECTIONS = 20
const HOUR_SECONDS = 3_600

/** Starts everything that one process does: database, migrations, keys, both listeners, periodic work. */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<RunningService> {
  const log = options.log ?? pino()
  const progress = options.progress ?? (() => undefined)
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const storage = await openStorage(config, cleanup, progress)
  await migrate(storage.db)
  const running = await startListeners(config, storage.db, cleanup, { clock: systemClock, ...options, log })
  const stop = undo.move()
  return { ...running, failed: storage.failed, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}

async function openStorage(config: Config, cleanup: AsyncDisposableStack, progress: (line: string) => void) {
  let target: ConnectionSettings['target']
  let failed = new Promise<Error>(() => undefined)
  if (config.databaseUrl === undefined) {
    const embedded = cleanup.use(await startEmbedded({ dataDirectory: config.dataDirectory, log: progress }))
    target = embedded.connection
    failed = embedded.failed
  } else target = config.databaseUrl
  const db = openDatabase({
    target,
    maximumConnections: MAXIMUM_CONNECTIONS,
    applicationName: 'agent-exchange',
  })
  cleanup.defer(() => db.end({ timeout: 5 }))
  return { db, failed }
}

async function startListeners(
  config: Config,
  db: Database,
  cleanup: AsyncDisposableStack,
  { clock, log }: { clock: Clock; log: Logger },
) {
  const { profile, publicUrl } = config
  const masterKey = masterKeyOf(config)
  const platformKeys = await openPlatformKeys({ db, masterKey, profile, clock, newId: randomId })
  const context: Context = {
    profile,
    clock,
    newId: randomId,
    publicUrl,
    platform: platformKeys.signer,
    webhookKeys: platformKeys.webhook,
    cursorSecret: deriveSecret(masterKey, 'cursors'),
  }
  const operatorTokenFile = join(config.dataDirectory, 'operator-token')
  await ensureFirstOperator(db, operatorTokenFile, { clock })
  const metrics = createMetrics()
  const { app, acceptance } = agentServer(config, db, context, platformKeys, log, metrics.onAnswer)
  let isReady = false
  const operator = createOperatorServer({
    db,
    context,
    log,
    webhookKeys: platformKeys.webhook,
    metrics: metrics.registry,
    isReady: () => isReady,
    ...(config.tls && { tls: config.tls }),
  })
  cleanup.use(startPeriodic(periodicTasks(db, context, platformKeys), log))
  cleanup.defer(() => acceptance.idle())
  const agentUrl = await app.listen({ host: config.host, port: config.port })
  cleanup.defer(() => app.close())
  const operatorUrl = await operator.listen({ host: config.operatorHost, port: config.operatorPort })
  cleanup.defer(() => operator.close())
  const setReady = (ready: boolean) => {
    isReady = ready
    metrics.setReady(ready)
  }
  cleanup.defer(() => setReady(false))
  setReady(true)
  log.info({ agent: agentUrl, operator: operatorUrl, public_url: publicUrl }, 'ready')
  return { urls: { agent: agentUrl, operator: operatorUrl }, operatorTokenFile }
}

function agentServer(
  config: Config,
  db: Database,
  context: Context,
  { tokenKeys }: PlatformKeys,
  log: Logger,
  onAnswer: ReturnType<typeof createMetrics>['onAnswer'],
) {
  const { profile, clock, publicUrl } = context
  const certificateOf = createCertificateReader({ trustedProxies: config.trustedProxies })
  const addresses = oauthAddresses(publicUrl)
  const issuer =
    config.issuer === undefined ? embeddedIssuer(addresses.issuer, tokenKeys) : outsideIssuer(config.issuer, clock)
  const acceptance = createAcceptance(db)
  const app = createAgentServer({
    db,
    context,
    log,
    acceptance,
    onAnswer,
    tls: config.tls,
    outsideIssuer: config.issuer,
    limitRate: createRateLimit(profile, clock),
    authentication: {
      certificateOf,
      issuerKind: config.issuer === undefined ? 'embedded' : 'outside',
      verifyToken: createTokenVerifier({ issuer, publicUrl, profile, clock }),
    },
    authorizationServer:
      config.issuer === undefined
        ? createAuthorizationServer({
            db,
            publicUrl,
            profile,
            clock,
            tokenKeys,
            certificateOf,
            onError: (error) => log.error({ err: error }, 'authorization server failed'),
            onRefusal: (refusal) => log.warn(refusal, 'token refused'),
          })
        : undefined,
  })
  registerPages(app, { publicUrl, profile, tokenUrl: addresses.tokenEndpoint })
  return { app, acceptance }
}

function periodicTasks(db: Database, { profile, clock }: Context, { webhook }: PlatformKeys) {
  return [
    { name: 'retention', everySeconds: HOUR_SECONDS, run: () => removeExpired(db, profile, clock.now()) },
    { name: 'assertions', everySeconds: 300, run: () => purgeAssertions(db, clock.now()) },
    {
      name: 'webhook keys',
      everySeconds: HOUR_SECONDS,
      run: () => db.begin((tx) => webhook.maintain(tx, clock.now())),
    },
  ]
}
