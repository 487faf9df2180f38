import { openApiDocument } from '@agent-exchange/protocol'
import type { FastifyInstance } from 'fastify'
import { compactJsonPage } from './page.ts'
import { servePage } from './serve.ts'

/** API-02: the description of what runs, with the addresses of this exchange. */
export function registerOpenApi(
  app: FastifyInstance,
  addresses: { publicUrl: string; tokenUrl: string },
): void {
  const { publicUrl: baseUrl, tokenUrl } = addresses
  servePage(app, '/openapi.json', compactJsonPage(openApiDocument({ baseUrl, tokenUrl })))
}
