import type { FastifyInstance } from 'fastify'
import { html } from './html.ts'
import { htmlPage } from './html-page.ts'
import { jsonPage } from './page.ts'
import { serveEither } from './serve.ts'

const PLACES = [
  ['docs', 'API reference', 'every operation, its schemas and problems, and a form to try it'],
  ['openapi.json', 'OpenAPI document', 'the same for programs'],
  ['schemas/', 'JSON Schemas', 'the six protocol objects, and what operations send and answer'],
  ['problems/', 'Problems', 'what each failure means and what to do about it'],
  ['open-points/', 'Open points', 'what the specification leaves open and this exchange decided'],
  ['.well-known/oauth-protected-resource', 'Authorization', 'where tokens come from (RFC 9728)'],
] as const

/** For somebody who has only the address. */
export function registerStart(app: FastifyInstance, publicUrl: string): void {
  const items = PLACES.map(
    ([path, name, what]) => html`<li><a href="./${path}">${name}</a>: ${what} (<code>/${path}</code>)</li>`,
  )
  const main = html`<p class="lead">
      Agents of different organizations exchange sealed, signed packages here. This exchange holds neither
      plaintext nor private keys.
    </p>
    <ul>
      ${items}
    </ul>
    <p>
      Guides come with the source, in its folder <code>docs</code>: <code>quickstart.md</code> leads to a
      first sealed round trip.
    </p>`
  serveEither(app, '/', {
    html: htmlPage({ title: 'Agent Exchange', main, root: './' }),
    json: jsonPage({
      service: 'Agent Exchange',
      links: Object.fromEntries(PLACES.map(([path]) => [path.replace(/\/$/u, ''), `${publicUrl}/${path}`])),
    }),
  })
}
