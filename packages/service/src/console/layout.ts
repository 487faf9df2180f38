import {
  CSRF_FIELD,
  html,
  page,
  type Html,
  type PageContent,
  type Site,
  type WebAssets,
} from '@agent-exchange/web'
import type { Operator } from '../kernel/operator-roles.ts'
import { navigationFor } from './navigation.ts'

const NAME = 'Agent Exchange'
export const ASSET_FOLDER = '/assets/'

/** Who looks at the page; undefined before sign-in. */
export interface Viewer {
  readonly operator: Operator
  readonly csrfToken: string
}

/** A page of the console, with navigation and the way out. */
export function consolePage(
  assets: WebAssets,
  path: string,
  viewer: Viewer | undefined,
  content: PageContent,
): Html {
  const { sections, places } = viewer ? navigationFor(viewer.operator, path) : { sections: [], places: [] }
  const site: Site = {
    name: NAME,
    language: 'en',
    home: '/',
    assetFolder: ASSET_FOLDER,
    assets,
    navigation: sections,
    places,
    ...(viewer && { account: accountOf(viewer) }),
    footer: html`${NAME}: operator console`,
  }
  return page(site, content)
}

function accountOf({ operator, csrfToken }: Viewer): Html {
  return html`<form class="sign-out" method="post" action="/sign-out">
    <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />
    <span><bdi>${operator.name}</bdi> <span class="quiet">${operator.role}</span></span>
    <button type="submit">Sign out</button>
  </form>`
}
