import { extensionsDocument, openApiDocument, type DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyInstance } from 'fastify'
import { compactJsonPage } from './page.ts'
import { servePage } from './serve.ts'

/** API-02: the OpenAPI document with the URLs and limits of this deployment; what is ours has a document of its own. */
export function registerOpenApi(
  app: FastifyInstance,
  deployment: { publicUrl: string; tokenUrl: string; profile: DeploymentProfile },
): void {
  const { publicUrl: baseUrl, tokenUrl, profile } = deployment
  const options = { baseUrl, tokenUrl, profile }
  servePage(app, '/openapi.json', () => compactJsonPage(openApiDocument(options)))
  servePage(app, '/openapi-extensions.json', () => compactJsonPage(extensionsDocument(options)))
}
