import type { Config } from '../config/index.ts'
import type { Database } from '@agent-exchange/database'
import { createAgentServer } from '../http/agent-server.ts'
import { createConcurrencyLimit } from '../http/concurrency-limit.ts'
import type { AgentServerDependencies } from '../http/dependencies.ts'
import { registerPages } from '../http/pages/register-pages.ts'
import { createSharedRateLimit } from '../http/shared-rate-limit.ts'
import { toAnswer } from '../http/to-answer.ts'
import type { Context } from '../kernel/context.ts'
import { createMutationPipeline, type PipelineObserver } from '../kernel/mutation-pipeline.ts'
import type { PlatformKeys } from '../platform-keys/platform-keys.ts'
import { createAuthorizationServer } from '../oauth/authorization-server.ts'
import { createCallerStatus } from '../oauth/caller-status.ts'
import { createCertificateReader } from '../oauth/client-certificate.ts'
import { externalIssuer } from '../oauth/external-issuer.ts'
import { createProxySecretCheck } from '../oauth/proxy-secret.ts'
import { oauthUrls } from '../oauth/oauth-urls.ts'
import { embeddedIssuer } from '../oauth/token-keys.ts'
import { createTokenVerifier } from '../oauth/token-verifier.ts'

export async function listenForAgents(
  { app, mutations }: ReturnType<typeof createAgentSide>,
  { host, port }: Config,
  cleanup: AsyncDisposableStack,
): Promise<string> {
  cleanup.defer(mutations.idle)
  const url = await app.listen({ host, port })
  cleanup.defer(() => app.close())
  return url
}

export function createAgentSide(
  config: Config,
  db: Database,
  context: Context,
  { tokenKeys }: PlatformKeys,
  given: Pick<
    AgentServerDependencies,
    'log' | 'onAnswer' | 'connections' | 'bodies' | 'replica' | 'transparency' | 'tracing'
  > & {
    readonly observer: PipelineObserver
    /** PEM text of what AEX_TLS_CLIENT_CA contains now. */
    readonly clientCa: () => string | undefined
  },
) {
  const { profile, clock, publicUrl } = context
  const { log } = given
  const hasProxySecret = createProxySecretCheck(config.proxySecret)
  if (config.trustedProxies.length > 0 && config.proxySecret === undefined)
    log.warn(
      'any program on the machine of a trusted proxy can claim a client certificate: set AEX_PROXY_SECRET_FILE',
    )
  const certificateOf = createCertificateReader({
    trustedProxies: config.trustedProxies,
    hasProxySecret,
    clientCa: given.clientCa,
    clock,
  })
  const addresses = oauthUrls(publicUrl)
  const issuer =
    config.issuer === undefined
      ? embeddedIssuer(addresses.issuer, tokenKeys)
      : externalIssuer(config.issuer, clock)
  const mutations = createMutationPipeline(db, toAnswer, given.observer)
  const rateLimit = createSharedRateLimit({ db, profile, clock })
  const app = createAgentServer({
    ...given,
    db,
    context,
    mutations,
    tls: config.tls,
    limitRate: rateLimit.limit,
    limitConcurrency: createConcurrencyLimit(profile),
    authentication: {
      certificateOf,
      requireActive: createCallerStatus(db, config.issuer === undefined ? 'embedded' : 'external', {
        readsPosition: given.replica !== undefined,
      }),
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
  // First of all, so that the header is removed from every request.
  app.server.prependListener('request', hasProxySecret)
  registerPages(app, { publicUrl, profile, tokenUrl: addresses.tokenEndpoint })
  return { app, mutations, rateLimit }
}
