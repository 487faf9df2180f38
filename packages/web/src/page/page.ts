import { attributes, html, type Html } from '../template/html.ts'
import { notice, type Notice } from '../components/notice.ts'
import { themeSwitch } from './theme-switch.ts'
import type { WebAssets } from './web-assets.ts'

export interface NavigationItem {
  readonly href: string
  readonly text: string
  readonly isCurrent?: boolean
}

/** What all pages of one site share. */
export interface Site {
  readonly name: string
  readonly language: string
  /** Address of the start page. */
  readonly home: string
  /** Address of the folder of the files of `readWebAssets`, with a final slash. */
  readonly assetFolder: string
  readonly assets: WebAssets
  readonly navigation: readonly NavigationItem[]
  /** A second level, below the first one. */
  readonly places?: readonly NavigationItem[]
  /** At the end of the header: who is signed in, and the way out. */
  readonly account?: Html
  readonly footer?: Html
}

export interface PageContent {
  /** Of the browser's tab, and the heading of the page. */
  readonly title: string
  readonly main: Html
  /** What the last action led to. */
  readonly flash?: readonly Notice[]
  /** Beside the main part on a wide screen, above it on a narrow one. */
  readonly aside?: Html
  /** Where the page is, if the address of the request was another one: a reload leads there. */
  readonly address?: string
  /** Addresses of further files of this site. Scripts are modules. */
  readonly styles?: readonly string[]
  readonly scripts?: readonly string[]
}

/** A whole page. It has neither inline script nor inline style, so a strict Content Security Policy fits. */
export function page(site: Site, content: PageContent): Html {
  const { name, language, home, assetFolder, assets, navigation, places = [], account, footer } = site
  const { title, main, flash = [], aside, address, styles = [], scripts = [] } = content
  const heading = title === name ? title : `${title} · ${name}`
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${heading}</title>
        ${address !== undefined && html`<link rel="canonical" href="${address}" />`}
        <link rel="icon" href="${assetFolder}${assets.icon.name}" />
        <link rel="stylesheet" href="${assetFolder}${assets.style.name}" />
        ${styles.map((href) => html`<link rel="stylesheet" href="${href}" />`)}
        <script src="${assetFolder}${assets.script.name}"></script>
        ${scripts.map((src) => html`<script type="module" src="${src}"></script>`)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <div class="bar">
            <a class="brand" href="${home}">
              <img src="${assetFolder}${assets.icon.name}" alt="" width="20" height="20" />${name}
            </a>
            ${navigation.length > 0 && navigationList('Site', navigation)}
            ${account && html`<div class="account">${account}</div>`}
          </div>
          ${places.length > 0 && html`<div class="bar places">${navigationList('Section', places)}</div>`}
        </header>
        <div class="${aside ? 'frame beside' : 'frame'}">
          ${aside}
          <main id="main" tabindex="-1">
            ${flash.map(notice)}
            <h1>${title}</h1>
            ${main}
          </main>
        </div>
        <footer class="foot">
          <div>${footer ?? name}</div>
          ${themeSwitch()}
        </footer>
      </body>
    </html>`
}

function navigationList(label: string, items: readonly NavigationItem[]): Html {
  return html`<nav aria-label="${label}">
    <ul>
      ${items.map(navigationItem)}
    </ul>
  </nav>`
}

function navigationItem({ href, text, isCurrent }: NavigationItem): Html {
  return html`<li><a ${attributes({ href, 'aria-current': isCurrent ? 'page' : undefined })}>${text}</a></li>`
}
