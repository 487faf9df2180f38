import { createHash } from 'node:crypto'
import { readAsset } from './assets.ts'
import { Html, html } from './html.ts'
import { DENY_ALL_POLICY, page, type Page } from './page.ts'

/** Inlined, so that a page is one self-contained file. The policy permits it by its hash. */
const STYLE = readAsset('page.css')
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)

export interface HtmlPageContent {
  readonly title: string
  readonly main: Html
  /** The relative path to the root, so that links do not depend on the host name. */
  readonly root: './' | '../'
}

/** A page without scripts and subresources, in light and dark colors. */
export function htmlPage({ title, main, root }: HtmlPageContent): Page {
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Agent Exchange</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header>
          <nav aria-label="Site">
            <a href="${root}">Agent Exchange</a> <a href="${root}docs">API reference</a>
            <a href="${root}problems/">Problems</a> <a href="${root}open-points/">Open points</a>
            <a href="${root}schemas/">Schemas</a>
          </nav>
        </header>
        <main>
          <h1>${title}</h1>
          ${main}
        </main>
      </body>
    </html> `.text
  return page(text, 'text/html; charset=utf-8', {
    contentSecurityPolicy: `${DENY_ALL_POLICY}; style-src 'sha256-${STYLE_HASH}'`,
  })
}
