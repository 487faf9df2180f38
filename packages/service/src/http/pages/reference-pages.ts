import type { FastifyInstance } from 'fastify'
import { readAsset } from './assets.ts'
import { htmlPage } from './html-page.ts'
import { page, PUBLIC_POLICY, REVALIDATE, type Page } from './page.ts'
import { referenceAside, referenceMain } from './reference-content.ts'
import { redirectTo, serveFolder, servePage } from './serve.ts'

/** Requests are sent to this exchange alone, and no text that it answers can become markup. */
const POLICY = [
  PUBLIC_POLICY,
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')
const OPTIONS = { contentSecurityPolicy: POLICY, cacheControl: REVALIDATE }

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

const FILES: readonly (readonly [name: string, mediaType: string])[] = [
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
  servePage(app, '/docs', reference)
  redirectTo(app, '/docs/', '/docs')
  serveFolder(app, '/docs/', () => new Map(FILES.map(([name, type]) => [name, file(name, type)])))
}

const file = (name: string, mediaType: string) => page(readAsset(`reference/${name}`), mediaType, OPTIONS)

function reference(): Page {
  const content = {
    title: 'API reference',
    root: './',
    place: 'docs',
    aside: referenceAside(),
    main: referenceMain(),
    styles: ['docs/reference.css'],
    scripts: ['docs/reference.js'],
  } as const
  return htmlPage(content, OPTIONS)
}
