import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { page } from './page.ts'
import { servePage } from './serve.ts'

/** The verifier of capsules: the same file that `aex verify --page` writes. It says itself by whom it was served. */
export function registerVerifier(app: FastifyInstance): void {
  const html = readFileSync(new URL(import.meta.resolve('@agent-exchange/log/verify-page.html')), 'utf8')
  const [, policy = "default-src 'none'"] = /content="(default-src [^"]+)"/u.exec(html) ?? []
  servePage(app, '/verify', page(html, 'text/html; charset=utf-8', { contentSecurityPolicy: policy }))
}
