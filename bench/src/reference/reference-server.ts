import Fastify, { type FastifyInstance } from 'fastify'
import { generateKeyPair } from '@agent-exchange/crypto'
import { packageChecker, resourceOf } from './checked-package.ts'
import { packageStore, storeReceipt } from './naive-store.ts'
import { plainDriver } from './plain-driver.ts'
import type { ReferenceSettings } from './reference-settings.ts'
import { tokenCache } from './token-cache.ts'

const BODY_LIMIT_BYTES = 2_097_152
const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 72_000
/** The pool size of the service. */
const CONNECTIONS = 20

/** The same framework, settings and checks of a package, without storage or with naive storage. */
export async function startReference(settings: ReferenceSettings): Promise<FastifyInstance> {
  const base = `http://127.0.0.1:${settings.port}`
  const authenticate = tokenCache(settings.jwks)
  const check = await packageChecker(settings.keys)
  const platform = { key: (await generateKeyPair('signing')).privateKey, keyId: 'key_platform' }
  const { server } = settings
  const db = server.kind === 'naive' ? plainDriver(server.database, CONNECTIONS) : undefined
  const store = db && packageStore(db, platform)
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    exposeHeadRoutes: false,
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.post('/v1/packages', async ({ headers, body }, reply) => {
    const caller = await authenticate(headers.authorization)
    const correlationId = String(headers['x-correlation-id'])
    const checked = await check(body as Buffer, caller.organizationId)
    const idempotencyKey = String(headers['idempotency-key'])
    const answer = store
      ? await store({ caller, checked, idempotencyKey, correlationId, base })
      : JSON.stringify(resourceOf(checked.metadata, new Date().toISOString(), base))
    return reply
      .code(202)
      .header('content-type', 'application/json')
      .header('cache-control', 'no-store')
      .header('x-correlation-id', correlationId)
      .send(answer)
  })
  app.post('/v1/policy-receipts', async ({ headers, body }, reply) => {
    await authenticate(headers.authorization)
    const text = String(body)
    if (db) await storeReceipt(db, text)
    return reply.code(201).header('content-type', 'application/json').send(text)
  })
  await app.listen({ host: '127.0.0.1', port: settings.port })
  return app
}
