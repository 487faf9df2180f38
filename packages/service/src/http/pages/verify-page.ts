import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { page, type Page } from './page.ts'
import { servePage } from './serve.ts'

const DIGEST_PLACE = '<span id="digest"></span>'

/**
 * The verifier of capsules: the file that `aex verify --page` writes, with the SHA-256 of that file in its notice. It says
 * itself by whom it was served.
 */
export function registerVerifier(app: FastifyInstance): void {
  servePage(app, '/verify', verifier)
}

function verifier(): Page {
  const html = readFileSync(new URL(import.meta.resolve('@agent-exchange/log/verify-page.html')), 'utf8')
  const [, policy = "default-src 'none'"] = /content="(default-src [^"]+)"/u.exec(html) ?? []
  const digest = createHash('sha256').update(html).digest('hex')
  const served = html.replace(DIGEST_PLACE, () => `<span id="digest">: <code>${digest}</code></span>`)
  // The policy in the file cannot forbid framing: a meta element may not carry this directive.
  const contentSecurityPolicy = `${policy}; frame-ancestors 'none'`
  return page(served, 'text/html; charset=utf-8', { contentSecurityPolicy })
}
