import { createSecretKey } from 'node:crypto'
import { createLocalJWKSet } from 'jose'
import { destination, pino } from 'pino'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import type { Submission } from '../../../packages/service/src/features/packages/submission.ts'
import { createAgentServer } from '../../../packages/service/src/http/agent-server.ts'
import { createAgentBodyBudget } from '../../../packages/service/src/http/body-budget.ts'
import { createConcurrencyLimits } from '../../../packages/service/src/http/concurrency-limit.ts'
import { createRateLimit } from '../../../packages/service/src/http/rate-limit.ts'
import { systemClock } from '@agent-exchange/server/clock'
import type { Context } from '../../../packages/service/src/kernel/context.ts'
import { randomId } from '../../../packages/service/src/kernel/ids.ts'
import type { MutationPipeline } from '../../../packages/service/src/kernel/mutation-pipeline.ts'
import { createTurns } from '../../../packages/service/src/kernel/turns.ts'
import { createCertificateReader } from '../../../packages/service/src/oauth/client-certificate.ts'
import { createTokenVerifier } from '../../../packages/service/src/oauth/token-verifier.ts'
import { resourceOf, type KeyList } from './checked-package.ts'
import type { ReferenceSettings } from './reference-settings.ts'

const ACCEPTED = 202
const SECRET_BYTES = 32

const nothing = () => Promise.reject(new Error('the floor only accepts packages'))

/**
 * The agent server of the service without a database: tokens, headers, limits, parsing, schemas, signature, digest and
 * request log are real. Nothing is signed or stored.
 */
export async function startFloor({ port, issuer, jwks, keys }: ReferenceSettings): Promise<void> {
  const context: Context = {
    profile: DEFAULT_PROFILE,
    clock: systemClock,
    newId: randomId,
    publicUrl: issuer,
    externalIssuer: undefined,
    platform: { sign: async () => ({ algorithm: 'ES256', key_id: 'none', signature: '' }) },
    webhookKeys: { directory: nothing, currentKeyId: nothing },
    allowPrivateReceivers: true,
    hasSeveralDatabaseHosts: false,
    macKey: createSecretKey(new Uint8Array(SECRET_BYTES)),
    evidenceVersion: () => 2,
    onPackageState: () => undefined,
  }
  const db = keysOnly(keys)
  const app = createAgentServer({
    db,
    context,
    mutations: floorPipeline(db, issuer),
    authorizationServer: undefined,
    replica: undefined,
    rate: createRateLimit(DEFAULT_PROFILE, systemClock),
    concurrency: createConcurrencyLimits(DEFAULT_PROFILE),
    turns: createTurns({
      milliseconds: DEFAULT_PROFILE['O-13'].turn_milliseconds,
      clock: systemClock,
    }),
    authentication: {
      certificateOf: createCertificateReader({
        trustedProxies: [],
        clientCa: () => undefined,
        clock: systemClock,
      }),
      requireActive: async () => undefined,
      verifyToken: createTokenVerifier({
        issuer: { issuer, algorithms: ['ES256'], keyOf: createLocalJWKSet({ keys: [...jwks] }) },
        publicUrl: issuer,
        profile: DEFAULT_PROFILE,
        clock: systemClock,
      }),
    },
    transparency: {
      keys: { signers: () => Promise.reject(new Error('the floor has no log')) },
      witnesses: [],
    },
    tls: undefined,
    connections: {
      total: Infinity,
      perAddress: Infinity,
      isProxy: () => false,
      proxiesOnly: false,
      onLimit: () => undefined,
    },
    bodies: createAgentBodyBudget(DEFAULT_PROFILE),
    log: pino(destination('/dev/null')),
    onAnswer: () => undefined,
  })
  await app.listen({ host: '127.0.0.1', port })
}

/** Packages are verified and answered; nothing is committed. */
function floorPipeline(db: Database, base: string): MutationPipeline {
  return {
    async submit(_operation, mutation, call) {
      const { metadata, now } = (await mutation.authorize(call, db)) as Submission
      return { status: ACCEPTED, body: JSON.stringify(resourceOf(metadata, now, base)) }
    },
    replayOnFailure: (failure) => Promise.reject(failure),
    depths: () => new Map(),
    idle: async () => undefined,
  }
}

/** Public keys are read once and cached; signature verification needs nothing else. */
function keysOnly(keys: KeyList): Database {
  const jwkOf = new Map(keys.map(({ agentId, jwk }) => [agentId, jwk]))
  const query = async (_texts: TemplateStringsArray, agentId: string) => [
    { public_jwk: JSON.stringify(jwkOf.get(agentId)) },
  ]
  return Object.assign(query, { database: 'none' }) as unknown as Database
}
