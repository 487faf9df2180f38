import {
  EVENT_STREAM_HEADERS,
  originFault,
  readWebAssets,
  securityHeaders,
  siteOrigins,
  usesTls,
} from '@agent-exchange/web'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../kernel/problem.ts'
import { asProblem, logFailure } from '../operator/failures.ts'
import { formReceiver } from '../operator/form-body.ts'
import { OPERATOR_BASE_PATH } from '../operator/server.ts'
import type { ConsoleDependencies } from './console-dependencies.ts'
import { createCookies } from './console-cookies.ts'
import { ASSET_FOLDER } from './layout.ts'
import { EVENTS_PATH } from './live-content.ts'
import { createLiveEvents } from './live-events.ts'
import { pages } from './console-pages.ts'
import { createPageServer } from './page-server.ts'
import { mountSignIn } from './sign-in/sign-in.ts'

const FORM = 'application/x-www-form-urlencoded'

/** Adds the console to the operator listener. It is the only part of the console that knows the web framework. */
export function mountConsole(server: FastifyInstance, dependencies: ConsoleDependencies): void {
  const { address } = dependencies
  const headers = securityHeaders({ tls: usesTls(address) })
  const origins = siteOrigins(address)
  const assets = readWebAssets()
  void server.register((app, _options, done) => {
    const parts = { ...dependencies, assets, cookies: createCookies(address) }
    const pageServer = createPageServer(parts)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(FORM, formReceiver(dependencies.operator.context.profile))
    app.setErrorHandler((error, request, reply) => {
      const problem = asProblem(error)
      logFailure(dependencies.operator.log, problem, error, request)
      return pageServer.sendProblem(request, reply, problem)
    })
    app.addHook('onRequest', async (request, reply) => {
      reply.headers(headers).header('x-correlation-id', request.id)
      if (originFault(request.raw, origins) === undefined) return
      throw new Problem('not_permitted', { origin: 'not_allowed' })
    })
    for (const asset of Object.values(assets))
      app.get(ASSET_FOLDER + asset.name, (_request, reply) =>
        reply.header('cache-control', asset.cacheControl).type(asset.mediaType).send(asset.body),
      )
    mountSignIn(app, parts)
    for (const page of pages) pageServer.mount(app, page)
    const events = createLiveEvents((error) =>
      dependencies.operator.log.error({ err: error }, 'reading for the event stream failed'),
    )
    for (const { path, watch } of pages) {
      if (!watch) continue
      const options = { exposeHeadRoute: false, onRequest: pageServer.authenticate }
      app.get(EVENTS_PATH + path, options, (request, reply) => {
        events.requireRoom()
        reply.hijack()
        reply.raw.writeHead(200, { ...headers, ...EVENT_STREAM_HEADERS })
        events.add(reply.raw, pageServer.watched(watch, request))
      })
    }
    app.addHook('preClose', (closed) => {
      events.close()
      closed()
    })
    // An unknown address of the API keeps its problem document.
    app.get('/*', { onRequest: pageServer.authenticate }, (request, reply) => {
      if (request.url.startsWith(`${OPERATOR_BASE_PATH}/`)) return reply.callNotFound()
      throw new Problem('resource_not_found')
    })
    done()
  })
}
