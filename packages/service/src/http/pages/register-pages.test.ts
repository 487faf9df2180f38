import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import {
  createProfile,
  OPEN_POINT_IDS,
  PROBLEM_CODES,
  problems,
  problemSlug,
  publishedSchemas,
  validatorFor,
  type JsonObject,
} from '@agent-exchange/protocol'
import { readWebAssets } from '@agent-exchange/web'
import Fastify, { type FastifyInstance } from 'fastify'
import { Problem } from '../../kernel/problem.ts'
import { registerPages } from './register-pages.ts'

const PUBLIC_URL = 'https://exchange.example'
const ASSETS = new URL('../../../assets/', import.meta.url)
const SCHEMA_FILES = new URL('../../../../protocol/schemas/', import.meta.url)

let app: FastifyInstance
let origin: string

before(async () => {
  const result = createProfile({ 'O-15': { maximum_limit: 321 } })
  assert.ok(result.ok)
  // Same options as the agent API: no body parsers and no automatic HEAD routes.
  app = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  app.removeAllContentTypeParsers()
  app.setErrorHandler((error, _request, reply) => {
    const code = error instanceof Problem ? error.code : 'internal_error'
    return reply.code(problems[code].status).send({ code })
  })
  registerPages(app, {
    publicUrl: PUBLIC_URL,
    profile: result.profile,
    tokenUrl: `${PUBLIC_URL}/oauth/token`,
  })
  origin = await app.listen({ host: '127.0.0.1', port: 0 })
})
after(() => app.close())

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(origin + path, { headers, method, redirect: 'manual' })
/** Throws if the schema is not valid under Draft 2020-12. Drops $id, which this process may have compiled before. */
const compile = (schema: JsonObject) => {
  const { $id: _, ...unnamed } = schema
  return validatorFor(unnamed, 'OBJ-18').accepts({})
}
const asJson = { accept: 'application/json' }

const HTML_PATHS = ['/', '/docs', '/problems/', '/open-points/', '/schemas/', '/problems/package-revoked']
const REFERENCE_PATHS = readdirSync(new URL('reference/', ASSETS)).map((name) => `/docs/${name}`)
const SHARED = Object.values(readWebAssets())
const SHARED_PATHS = SHARED.map(({ name }) => `/assets/${name}`)
const JSON_PATHS = ['/openapi.json', '/openapi-extensions.json', '/schemas/reasoning_package.schema.json']
const EVERY_PATH = [...HTML_PATHS, ...REFERENCE_PATHS, ...SHARED_PATHS, ...JSON_PATHS]

const MEDIA_TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
}

test('every page has a media type, a policy against foreign resources, and nosniff', async () => {
  for (const path of EVERY_PATH) {
    const response = await get(path)
    const expected = HTML_PATHS.includes(path)
      ? 'text/html; charset=utf-8'
      : MEDIA_TYPES[path.split('.').at(-1) ?? '']
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-type'), expected, path)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff', path)
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(
      policy,
      /^default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'/u,
      path,
    )
    assert.doesNotMatch(policy, /unsafe|\*|https?:/u, path)
    assert.ok((await response.text()).length > 0, path)
  }
})

test('HEAD responds like GET without a body', async () => {
  for (const path of EVERY_PATH) {
    const [full, head] = [await get(path), await get(path, {}, 'HEAD')]
    const body = await full.arrayBuffer()
    assert.equal(head.status, 200, path)
    assert.equal(head.headers.get('etag'), full.headers.get('etag'), path)
    assert.equal(head.headers.get('content-length'), String(body.byteLength), path)
    assert.equal((await head.arrayBuffer()).byteLength, 0, path)
  }
})

test('a conditional request for a cached page gets 304', async () => {
  for (const path of EVERY_PATH) {
    const etag = (await get(path)).headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]{43}"$/u)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': known })
      assert.deepEqual([again.status, again.headers.get('etag'), await again.text()], [304, etag, ''], path)
      assert.ok(again.headers.get('cache-control'), path)
    }
    assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200, path)
  }
})

test('pages have no inline script or style, and load the shared files alone', async () => {
  for (const path of HTML_PATHS) {
    const response = await get(path)
    const text = await response.text()
    assert.doesNotMatch(text, /<style|<iframe|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/u, path)
    const policy = (response.headers.get('content-security-policy') ?? '').split('; ')
    for (const rule of ["script-src 'self'", "style-src 'self'", "img-src 'self'"])
      assert.ok(policy.includes(rule), `${path} ${rule}`)
    const loaded = [...text.matchAll(/(?:<link[^>]*href|<script[^>]*src|<img[^>]*src)="([^"]*)"/gu)]
    const files = loaded.map((match) => new URL(match[1] ?? '', origin + path).pathname)
    const shared = new Set(files.filter((file) => !file.startsWith('/docs/')))
    assert.deepEqual([...shared].toSorted(), SHARED_PATHS.toSorted(), path)
    assert.equal(
      files.some((file) => file.startsWith('/docs/')),
      path === '/docs',
    )
  }
})

test('a file named by its content hash is cached as immutable', async () => {
  for (const { name, body } of SHARED) {
    const response = await get(`/assets/${name}`)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(await response.text(), body)
  }
})

test('the reference makes no markup from text, keeps no token, and its files refer to nothing outside', async () => {
  const response = await get('/docs')
  const policy = response.headers.get('content-security-policy') ?? ''
  for (const rule of ["connect-src 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'"])
    assert.ok(policy.split('; ').includes(rule), rule)
  for (const path of ['/docs', ...REFERENCE_PATHS]) {
    const text = await (await get(path)).text()
    assert.doesNotMatch(text, /https?:\/\/|["'(]\/\/|@import|url\(/u, path)
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/u,
      path,
    )
    assert.doesNotMatch(text, /localStorage|sessionStorage|indexedDB|\.cookie/u, path)
  }
})

test('no page has a broken link', async () => {
  for (const path of HTML_PATHS) {
    const text = await (await get(path)).text()
    const links = [...text.matchAll(/(?:href|src)="([^"]*)"/gu)].map((match) => match[1] ?? '')
    const elsewhere = ['data:', '#']
    for (const link of new Set(links.filter((to) => !elsewhere.some((start) => to.startsWith(start))))) {
      const target = new URL(link, origin + path)
      assert.equal(target.origin, origin, `${path} ${link}`)
      // The discovery document is not a page.
      if (target.pathname === '/.well-known/oauth-protected-resource') continue
      assert.equal((await get(target.pathname)).status, 200, `${path} ${link}`)
    }
  }
})

test('[ERR-01] the type of every problem resolves to a page that explains it, as HTML and as JSON', async () => {
  for (const code of PROBLEM_CODES) {
    const path = `/problems/${problemSlug(code)}`
    const text = await (await get(path, { accept: 'text/html' })).text()
    const { title, advice, basis } = problems[code]
    assert.ok(text.includes(`<code>${code}</code>`) && text.includes(`<h1>${title}</h1>`), path)
    assert.ok(text.includes(advice), path)
    assert.equal(text.includes('open-points/#o-11'), basis === 'profile', path)
    const response = await get(path, asJson)
    assert.equal(response.headers.get('vary'), 'accept')
    assert.deepEqual(await response.json(), { type: PUBLIC_URL + path, code, ...problems[code] })
  }
  const index = (await (await get('/problems/', asJson)).json()) as { code: string }[]
  assert.deepEqual(
    index.map(({ code }) => code),
    PROBLEM_CODES,
  )
})

test('[OBJ-18] every published schema is served unchanged and is valid under Draft 2020-12', async () => {
  const addresses = (await (await get('/schemas/', asJson)).json()) as string[]
  assert.equal(addresses.length, publishedSchemas().length)
  const names = readdirSync(SCHEMA_FILES, { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    addresses.map((address) => address.replace(`${PUBLIC_URL}/schemas/`, '')).toSorted(),
    names.filter((name) => name.endsWith('.json')).toSorted(),
  )
  assert.throws(() => compile({ type: 'nonsense' }), /schema is invalid/u)
  for (const address of addresses) {
    assert.ok(address.startsWith(`${PUBLIC_URL}/schemas/`))
    const text = await (await get(address.slice(PUBLIC_URL.length))).text()
    assert.equal(
      text,
      readFileSync(new URL(address.slice(`${PUBLIC_URL}/schemas/`.length), SCHEMA_FILES), 'utf8'),
    )
    const schema = JSON.parse(text) as JsonObject
    assert.equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema')
    assert.doesNotThrow(() => compile(schema), address)
  }
})

test('[OBJ-18] the schema index lists each schema with its members', async () => {
  const text = await (await get('/schemas/')).text()
  assert.match(text, /<h1>Schemas<\/h1>/u)
  for (const [path, { properties }] of publishedSchemas()) {
    assert.ok(text.includes(`href="${path}"`), path)
    for (const name of Object.keys((properties ?? {}) as JsonObject))
      assert.ok(text.includes(name), `${path} ${name}`)
  }
  assert.match(text, /replaces_key_id \(optional\)/u)
  assert.match(text, /NativePackageBody or DsxPackageBody/u)
})

test('the page of open points has a table of contents and marks changed values', async () => {
  const text = await (await get('/open-points/')).text()
  const contents = text.slice(text.indexOf('<nav aria-label="Open points">'), text.indexOf('<section'))
  for (const id of OPEN_POINT_IDS) assert.ok(contents.includes(`href="#${id.toLowerCase()}"`), id)
  assert.equal(contents.match(/set here/gu)?.length, 1)
  assert.match(contents, /href="#o-15">O-15<\/a>[^<]*<span class="badge warn">.*set here/u)
})

test('the reference says how to get a token and where the guides are', async () => {
  const text = (await (await get('/docs')).text()).replaceAll(/\s+/gu, ' ')
  for (const words of ['npx aex agent token', '/.well-known/oauth-authorization-server', 'quickstart.md'])
    assert.ok(text.includes(words), words)
  assert.match(text, /href=".well-known\/oauth-protected-resource"/u)
})

test('[API-02] the OpenAPI document names this exchange and its token endpoint', async () => {
  const document = (await (await get('/openapi.json')).json()) as {
    openapi: string
    servers: unknown
    components: { securitySchemes: { oauth2: { flows: { clientCredentials: { tokenUrl: string } } } } }
  }
  assert.equal(document.openapi, '3.1.1')
  assert.deepEqual(document.servers, [{ url: PUBLIC_URL }])
  const { tokenUrl } = document.components.securitySchemes.oauth2.flows.clientCredentials
  assert.equal(tokenUrl, `${PUBLIC_URL}/oauth/token`)
})

test('every open point is listed with the values of this deployment', async () => {
  const text = await (await get('/open-points/')).text()
  for (const id of OPEN_POINT_IDS) assert.ok(text.includes(`id="${id.toLowerCase()}"`), id)
  assert.match(text, /<code>321<\/code>\s*<small>default <code>1000<\/code>/u)
  const points = (await (await get('/open-points/', asJson)).json()) as { id: string; settings: object[] }[]
  assert.deepEqual(
    points.map(({ id }) => id),
    OPEN_POINT_IDS,
  )
  const found = points
    .find(({ id }) => id === 'O-15')
    ?.settings.find((setting) => 'value' in setting && setting.value === 321)
  assert.deepEqual(found, {
    name: 'maximum_limit',
    meaning: 'maximum items per page',
    default: 1_000,
    value: 321,
  })
})

test('unknown paths are a problem, also with path traversal', async () => {
  const paths = [
    '/problems/no-such-problem',
    '/problems/rate_limited',
    '/problems/constructor',
    '/schemas/nothing.schema.json',
    '/schemas/api/',
    '/docs/nothing.js',
    '/docs/index.html',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
  ]
  for (const path of paths) assert.equal((await get(path)).status, 404, path)
})

test('an index has one URL, to which all variants redirect', async () => {
  for (const [from, to] of [
    ['/problems', '/problems/'],
    ['/open-points', '/open-points/'],
    ['/schemas', '/schemas/'],
    ['/docs/', '/docs'],
  ] as const) {
    const response = await get(from)
    assert.deepEqual([response.status, response.headers.get('location')], [308, to])
  }
})
