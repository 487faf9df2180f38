import type { FastifyInstance } from 'fastify'
import { readAsset } from './assets.ts'
import { DENY_ALL_POLICY, page, REVALIDATE, type Page } from './page.ts'
import { redirectTo, serveFolder, servePage } from './serve.ts'

/** Own files only, no inline scripts or styles, requests to this origin only, no HTML from strings (Trusted Types). */
const POLICY = [
  DENY_ALL_POLICY,
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

const FILES: readonly (readonly [name: string, mediaType: string])[] = [
  ['page.css', STYLE],
  ['reference.css', STYLE],
  ['reference.js', SCRIPT],
  ['elements.js', SCRIPT],
  ['operation-view.js', SCRIPT],
  ['schema-view.js', SCRIPT],
  ['schema-facts.js', SCRIPT],
  ['examples.js', SCRIPT],
  ['request.js', SCRIPT],
  ['try-form.js', SCRIPT],
]

/** The interactive API reference. It loads /openapi.json in the browser. */
export function registerReference(app: FastifyInstance): void {
  servePage(app, '/docs', asset('reference/index.html', 'text/html; charset=utf-8'))
  redirectTo(app, '/docs/', '/docs')
  serveFolder(app, '/docs/', new Map(FILES.map(([name, type]) => [name, asset(place(name), type)])))
}

function place(name: string): string {
  return name === 'page.css' ? name : `reference/${name}`
}

function asset(path: string, mediaType: string): Page {
  return page(readAsset(path), mediaType, { contentSecurityPolicy: POLICY, cacheControl: REVALIDATE })
}
