import { page as shell, readWebAssets, type PageContent, type Site } from '@agent-exchange/web'
import type { FastifyInstance } from 'fastify'
import { page, PUBLIC_POLICY, type Page } from './page.ts'
import { serveFolder } from './serve.ts'

const ASSETS = readWebAssets()
const HTML_TYPE = 'text/html; charset=utf-8'

const PLACES = [
  ['docs', 'API reference'],
  ['problems/', 'Problems'],
  ['open-points/', 'Open points'],
  ['schemas/', 'Schemas'],
] as const

export interface HtmlPageContent extends PageContent {
  /** Address of the start page as seen from this page: links are relative, so they work behind any proxy path. */
  readonly root: './' | '../'
  /** The entry of the navigation that this page belongs to. */
  readonly place?: (typeof PLACES)[number][0]
}

/** A public page in the look that console and desk share. */
export function htmlPage({ root, place, ...content }: HtmlPageContent, options: Partial<Page> = {}): Page {
  const site: Site = {
    name: 'Agent Exchange',
    language: 'en',
    home: root,
    assetFolder: `${root}assets/`,
    assets: ASSETS,
    navigation: PLACES.map(([path, text]) => ({ href: root + path, text, isCurrent: path === place })),
  }
  return page(String(shell(site, content)), HTML_TYPE, { contentSecurityPolicy: PUBLIC_POLICY, ...options })
}

/** The files that every page links to, named by their content. */
export function registerAssets(app: FastifyInstance): void {
  serveFolder(
    app,
    '/assets/',
    () =>
      new Map(
        Object.values(ASSETS).map(({ name, body, mediaType, cacheControl }): [string, Page] => [
          name,
          page(body, mediaType, { cacheControl }),
        ]),
      ),
  )
}
