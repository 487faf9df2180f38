import { createHash } from 'node:crypto'
import { readAsset } from './assets.ts'
import { Html, html } from './html.ts'
import { NOTHING_ALLOWED, page, type Page } from './page.ts'

/** Inside the page, so that it needs no second request and can be saved; allowed by its hash and nothing else. */
const STYLE = readAsset('page.css')
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`)

export interface HtmlPageContent {
  readonly title: string
  readonly main: Html
  /** Where this page lies below the root: how links find their way back, whatever the host is called. */
  readonly root: './' | '../'
}

/** A page without script, without a request of its own, readable in light and dark. */
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
    contentSecurityPolicy: `${NOTHING_ALLOWED}; style-src 'sha256-${STYLE_HASH}'`,
  })
}
