import {
  PROBLEM_CATEGORIES,
  PROBLEM_CODES,
  problems,
  problemSlug,
  type DeploymentProfile,
  type ProblemCategory,
  type ProblemCode,
} from '@agent-exchange/protocol'
import { badge, definitionList, html, table, type Html } from '@agent-exchange/web'
import type { FastifyInstance } from 'fastify'
import { problemBase } from '../../kernel/problem-document.ts'
import { htmlPage } from './html-page.ts'
import { jsonPage } from './page.ts'
import { redirectTo, serveEither, serveFolderOfEither, type TwoForms } from './serve.ts'

interface ProblemPagesOptions {
  readonly publicUrl: string
  readonly profile: DeploymentProfile
}

/** ERR-01: the pages that the `type` of a problem resolves to. */
export function registerProblems(app: FastifyInstance, options: ProblemPagesOptions): void {
  const base = problemBase(options)
  serveEither(app, '/problems/', () => index(base))
  redirectTo(app, '/problems', '/problems/')
  serveFolderOfEither(
    app,
    '/problems/',
    () => new Map(PROBLEM_CODES.map((code) => [problemSlug(code), explanation(code, base)])),
  )
}

function describe(code: ProblemCode, base: string) {
  return { type: `${base}/${problemSlug(code)}`, code, ...problems[code] }
}

function explanation(code: ProblemCode, base: string): TwoForms {
  const { title, status, retryable, category, advice } = problems[code]
  const main = html`<p class="lead">${advice}</p>
    ${definitionList([
      ['Code', html`<code>${code}</code>`],
      ['Status', status],
      ['Retry', retryable ? RETRYABLE : NOT_RETRYABLE],
      ['Category', html`<code>${category}</code>`],
      ['Defined by', basis(code)],
      ['Type', html`<code>${base}/${problemSlug(code)}</code>`],
    ])}
    <p>
      The response is <code>application/problem+json</code> (RFC 9457). Its <code>details</code> may give the
      cause; they never contain content, a token or a key. Give the operator the
      <code>correlation_id</code> if you need help.
    </p>
    <p><a href="./">All problems</a></p>`
  return {
    html: htmlPage({ title, main, root: '../', place: 'problems/' }),
    json: jsonPage(describe(code, base)),
  }
}

const RETRYABLE = 'Yes, unchanged and with the same Idempotency-Key, if any (retryable: true).'
const NOT_RETRYABLE = 'No, the unchanged request would fail again (retryable: false).'

function basis(code: ProblemCode): Html {
  return problems[code].basis === 'specification'
    ? html`The specification.`
    : html`This project, not the specification: open point <a href="../open-points/#o-11">O-11</a>.`
}

function index(base: string): TwoForms {
  const main = html`<p class="lead">
      Every failure has one of these ${PROBLEM_CODES.length} codes. Its <code>type</code> is the address of
      the page that explains it.
    </p>
    ${PROBLEM_CATEGORIES.map(section)}`
  return {
    html: htmlPage({ title: 'Problems', main, root: '../', place: 'problems/' }),
    json: jsonPage(PROBLEM_CODES.map((code) => describe(code, base))),
  }
}

function section(category: ProblemCategory): Html {
  const caption = category.replaceAll('_', ' ')
  const codes = PROBLEM_CODES.filter((code) => problems[code].category === category)
  return table({
    caption: caption.charAt(0).toUpperCase() + caption.slice(1),
    columns: [
      { title: 'Code' },
      { title: 'Status', isNumeric: true },
      { title: 'Meaning' },
      { title: 'Repeat' },
    ],
    rows: codes.map((code) => {
      const { status, title, retryable } = problems[code]
      return [
        html`<a href="${problemSlug(code)}"><code>${code}</code></a>`,
        status,
        title,
        retryable ? badge('good', 'yes') : badge('neutral', 'no'),
      ]
    }),
  })
}
