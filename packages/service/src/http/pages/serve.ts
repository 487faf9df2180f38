import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../kernel/problem.ts'
import { prefersJson } from './content-negotiation.ts'
import { sendPage, type Page } from './page.ts'

/** The same content as HTML and as JSON. */
export interface TwoForms {
  readonly html: Page
  readonly json: Page
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

function route(app: FastifyInstance, url: string, handler: Handler): void {
  app.route({ method: ['GET', 'HEAD'], url, handler })
}

/** Pages are made for their first reader: most processes serve none, and all of them start sooner. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

export function servePage(app: FastifyInstance, url: string, make: () => Page): void {
  const shown = once(make)
  route(app, url, (request, reply) => sendPage(request, reply, shown()))
}

export function serveEither(app: FastifyInstance, url: string, make: () => TwoForms): void {
  const forms = once(make)
  route(app, url, (request, reply) => sendEither(request, reply, forms()))
}

/** Serves the pages of a map below one path; every other path is not found. */
export function serveFolder(app: FastifyInstance, url: string, make: () => ReadonlyMap<string, Page>): void {
  const pages = once(make)
  route(app, `${url}*`, (request, reply) => sendPage(request, reply, named(request, pages())))
}

export function serveFolderOfEither(
  app: FastifyInstance,
  url: string,
  make: () => ReadonlyMap<string, TwoForms>,
): void {
  const pages = once(make)
  route(app, `${url}*`, (request, reply) => sendEither(request, reply, named(request, pages())))
}

/** An index has one URL with a final slash, because relative links are resolved from the last slash. */
export function redirectTo(app: FastifyInstance, from: string, location: string): void {
  route(app, from, (_request, reply) => reply.redirect(location, 308))
}

function sendEither(request: FastifyRequest, reply: FastifyReply, forms: TwoForms): FastifyReply {
  reply.header('vary', 'accept')
  return sendPage(request, reply, prefersJson(request.headers.accept) ? forms.json : forms.html)
}

function named<T>(request: FastifyRequest, pages: ReadonlyMap<string, T>): T {
  const found = pages.get((request.params as { '*': string })['*'])
  if (found === undefined) throw new Problem('resource_not_found')
  return found
}
