import { publishedSchemas, type JsonObject } from '@agent-exchange/protocol'
import { html, table, type Html, type Part } from '@agent-exchange/web'
import type { FastifyInstance } from 'fastify'
import { htmlPage } from './html-page.ts'
import { jsonPage } from './page.ts'
import { redirectTo, serveEither, serveFolder } from './serve.ts'

type Published = readonly [path: string, schema: JsonObject]

/** OBJ-18: the published schemas, byte for byte, and their index. */
export function registerSchemas(app: FastifyInstance, publicUrl: string): void {
  serveEither(app, '/schemas/', () => {
    const schemas = publishedSchemas()
    return {
      html: htmlPage({ title: 'Schemas', main: index(schemas), root: '../', place: 'schemas/' }),
      json: jsonPage(schemas.map(([path]) => `${publicUrl}/schemas/${path}`)),
    }
  })
  redirectTo(app, '/schemas', '/schemas/')
  serveFolder(
    app,
    '/schemas/',
    () => new Map(publishedSchemas().map(([path, schema]) => [path, jsonPage(schema)])),
  )
}

const SECTIONS: readonly (readonly [title: string, what: string, has: (path: string) => boolean])[] = [
  [
    'Protocol objects',
    'Objects that agents seal into packages. The exchange never sees them, except audit events.',
    (path) => !path.startsWith('api/') && !path.startsWith('deployment'),
  ],
  [
    'Requests and responses',
    'Request and response bodies of the API operations.',
    (path) => path.startsWith('api/'),
  ],
  [
    'Deployment profile',
    'Settings that a deployment may change, by open point.',
    (path) => path.startsWith('deployment'),
  ],
]

function index(schemas: readonly Published[]): Html {
  return html`<p class="lead">
      JSON Schema Draft 2020-12, one self-contained file each. The limits of this deployment are in the
      <a href="../openapi.json">OpenAPI document</a>.
    </p>
    ${SECTIONS.map(([title, what, has]) =>
      section(
        title,
        what,
        schemas.filter(([path]) => has(path)),
      ),
    )}`
}

function section(title: string, what: string, schemas: readonly Published[]): Html {
  return html`<h2>${title}</h2>
    <p>${what}</p>
    ${table({
      caption: `Schemas: ${title.toLowerCase()}`,
      hidesCaption: true,
      columns: [{ title: 'Schema' }, { title: 'Members' }],
      rows: schemas.map(row),
    })}`
}

function row([path, schema]: Published): Part[] {
  const name = path.replace(/^api\//u, '').replace(/\.schema\.json$/u, '')
  return [html`<a href="${path}"><code>${name}</code></a>`, contentsOf(schema)]
}

/** The member names of a schema, or the names of its alternatives. */
function contentsOf(schema: JsonObject): string {
  const choices = (schema['anyOf'] ?? []) as JsonObject[]
  if (choices.length > 0)
    return choices.map((choice) => (choice['$ref'] as string).split('/').at(-1)).join(' or ')
  const required = new Set(schema['required'] as string[])
  const names = Object.keys(schema['properties'] as JsonObject)
  return names.map((name) => (required.has(name) ? name : `${name} (optional)`)).join(', ')
}
