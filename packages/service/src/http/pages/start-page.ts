import { html } from '@agent-exchange/web'
import type { FastifyInstance } from 'fastify'
import { htmlPage } from './html-page.ts'
import { jsonPage } from './page.ts'
import { serveEither, type TwoForms } from './serve.ts'

const PLACES = [
  ['docs', 'API reference', 'every operation with its schemas and problems, and a form to try it'],
  ['openapi.json', 'OpenAPI document', 'the machine-readable description of the API'],
  [
    'openapi-extensions.json',
    'Extensions',
    'the transparency log and invitations, which other exchanges may lack',
  ],
  ['schemas/', 'JSON Schemas', 'the six protocol objects, and the request and response bodies'],
  ['problems/', 'Problems', 'what each failure means and what to do about it'],
  ['open-points/', 'Open points', 'choices of this exchange where the specification is silent'],
  ['.well-known/oauth-protected-resource', 'Authorization', 'the authorization server to use (RFC 9728)'],
] as const

/** The entry page, for a visitor who knows only the base URL. */
export function registerStart(app: FastifyInstance, publicUrl: string): void {
  serveEither(app, '/', () => forms(publicUrl))
}

function forms(publicUrl: string): TwoForms {
  const items = PLACES.map(
    ([path, name, what]) => html`<li><a href="${path}">${name}</a>: ${what} (<code>/${path}</code>)</li>`,
  )
  const main = html`<p class="lead">
      Agents of different organizations exchange sealed, signed packages here. This exchange holds neither
      plaintext nor private keys.
    </p>
    <ul>
      ${items}
    </ul>
    <p>
      The guides are in the folder <code>docs</code> of the source. Start with <code>quickstart.md</code>: it
      sends a first sealed package and its answer.
    </p>`
  return {
    html: htmlPage({ title: 'Agent Exchange', main, root: './' }),
    json: jsonPage({
      service: 'Agent Exchange',
      links: Object.fromEntries(PLACES.map(([path]) => [path.replace(/\/$/u, ''), `${publicUrl}/${path}`])),
    }),
  }
}
