import { createHash } from 'node:crypto'
import { html, type Html } from '../template/html.ts'
import { themeSwitch } from './theme-switch.ts'
import type { WebAssets } from './web-assets.ts'

export interface StandalonePage {
  readonly name: string
  readonly language: string
  readonly title: string
  readonly main: Html
  readonly footer: string
  readonly assets: WebAssets
  /** Rules beside those of all pages. They are source code, never what somebody wrote. */
  readonly style: string
}

/** A page as one file that needs nothing from elsewhere and runs no script, with the look of the others. */
export function standalonePage({
  name,
  language,
  title,
  main,
  footer,
  assets,
  style,
}: StandalonePage): string {
  const rules = `${assets.style.body}\n${style}`
  const hash = createHash('sha256').update(rules).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  const body = html`<div class="frame">
      <main id="main">
        <h1>${title}</h1>
        ${main}
      </main>
    </div>
    <footer class="foot">
      <div>${footer}</div>
      ${themeSwitch()}
    </footer>`
  const icon = assets.icon.body.trim().replace('<svg ', '<svg aria-hidden="true" width="20" height="20" ')
  const brand = html`${name}`
  // A template refuses interpolation in a style or meta element; what is placed there is ours.
  return `<!doctype html>
<html lang="${String(html`${language}`)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${String(html`${title} · ${name}`)}</title>
<style>${rules}</style>
</head>
<body>
<header class="top"><div class="bar"><span class="brand">${icon}${String(brand)}</span></div></header>
${String(body)}
</body>
</html>
`
}
