import { publishedSchemas } from '@agent-exchange/protocol'
import type { FastifyInstance } from 'fastify'
import { jsonPage } from './page.ts'
import { redirectTo, serveFolder, servePage } from './serve.ts'

/** OBJ-18: the schemas as they are published, byte for byte, and a list of their addresses. */
export function registerSchemas(app: FastifyInstance, publicUrl: string): void {
  const schemas = publishedSchemas()
  const addresses = schemas.map(([path]) => `${publicUrl}/schemas/${path}`)
  servePage(app, '/schemas/', jsonPage(addresses))
  redirectTo(app, '/schemas', '/schemas/')
  serveFolder(app, '/schemas/', new Map(schemas.map(([path, schema]) => [path, jsonPage(schema)])))
}
