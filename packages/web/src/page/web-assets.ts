import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Beside `src` and `dist` alike: what a browser gets is not compiled. */
const FOLDER = new URL('../../assets/', import.meta.url)
const HASH_CHARACTERS = 16

export interface WebAsset {
  /** Such as `web-1a2b.css`: another content has another name, so it may be cached for good. */
  readonly name: string
  readonly mediaType: string
  readonly cacheControl: string
  readonly body: string
}

export interface WebAssets {
  readonly style: WebAsset
  readonly script: WebAsset
  readonly icon: WebAsset
}

/** The three files that every page links to. Serve each at the page's `assets` address. */
export function readWebAssets(): WebAssets {
  return {
    style: readAsset('web', 'css', 'text/css; charset=utf-8'),
    script: readAsset('web', 'js', 'text/javascript; charset=utf-8'),
    icon: readAsset('icon', 'svg', 'image/svg+xml'),
  }
}

function readAsset(stem: string, ending: string, mediaType: string): WebAsset {
  const body = readFileSync(new URL(`${stem}.${ending}`, FOLDER), 'utf8')
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_CHARACTERS)
  return {
    name: `${stem}-${hash}.${ending}`,
    mediaType,
    cacheControl: 'public, max-age=31536000, immutable',
    body,
  }
}
