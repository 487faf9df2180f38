import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyInstance } from 'fastify'
import { registerAssets } from './html-page.ts'
import { registerOpenApi } from './openapi-page.ts'
import { registerOpenPoints } from './open-point-pages.ts'
import { registerProblems } from './problem-pages.ts'
import { registerReference } from './reference-pages.ts'
import { registerSchemas } from './schema-pages.ts'
import { registerStart } from './start-page.ts'
import { registerVerifier } from './verify-page.ts'

export interface PagesOptions {
  /** {base_url}, without a final slash. */
  readonly publicUrl: string
  readonly profile: DeploymentProfile
  readonly tokenUrl: string
}

/** The public pages of the agent API: documentation, never data. */
export function registerPages(app: FastifyInstance, options: PagesOptions): void {
  registerAssets(app)
  registerStart(app, options.publicUrl)
  registerOpenApi(app, options)
  registerSchemas(app, options.publicUrl)
  registerProblems(app, options)
  registerOpenPoints(app, options.profile)
  registerReference(app)
  registerVerifier(app)
}
