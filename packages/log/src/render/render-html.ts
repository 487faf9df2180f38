import type { Html } from '@agent-exchange/web/html'
import type { CapsuleResult } from '../capsule/capsule-result.ts'
import { html } from './html-template.ts'
import type { Reader } from './reader.ts'
import { REPORT_STYLE } from './report-style.ts'
import { describeVerdict, type ReportRow, type ReportSection } from './verdict-report.ts'

const ASSUMPTIONS = [
  'SHA-256 has no known collisions, and ES256 and Ed25519 signatures cannot be forged without the private key.',
  'Each private key was known to its owner only, until the time from which on it was revoked.',
  'The policy that was given names the right log key, and witnesses that do not act together with the operator.',
  'A signature proves who said something, not that it is true. Times without a witness are claims.',
]

export interface RenderHtmlOptions extends Reader {
  /** What the caller says of this verification. */
  readonly verifiedAt: string
  readonly file: string
}

/**
 * The result as one self-contained page. It runs no script and loads nothing. Printed, it is one sheet unless a reader
 * opens the details.
 */
export function renderCapsuleHtml(
  result: CapsuleResult,
  { verifiedAt, file, ...reader }: RenderHtmlOptions,
): string {
  const { sentence, tone, facts, sections, details } = describeVerdict(result, reader)
  const rows = [{ name: 'File', value: file }, { name: 'Verified at', value: verifiedAt }, ...facts]
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <meta name="viewport" content="width=device-width" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <title>Evidence of ${result.threadId ?? 'an unreadable file'}</title>
        ${REPORT_STYLE}
      </head>
      <body>
        <main>
          <h1>Evidence report</h1>
          <p class="verdict ${tone}">${sentence}</p>
          ${sections.map(listOf)}
          <table>
            ${rows.map(row)}
          </table>
          ${details.map(detailsOf)} ${detailsOf({ title: 'Assumptions', items: ASSUMPTIONS })}
        </main>
      </body>
    </html> `
  return page.toString()
}

function row({ name, value }: ReportRow): Html {
  return html`<tr>
    <th scope="row">${name}</th>
    <td>${value}</td>
  </tr> `
}

function listOf({ title, items, text }: ReportSection): Html {
  return html`<h2>${title}</h2>
    ${listItems(items)} ${text === undefined ? '' : html`<pre>${text.split('\n').map(line)}</pre>`}`
}

function line(text: string): Html {
  return html`${text}<br />`
}

function detailsOf({ title, items }: ReportSection): Html {
  return html`<details>
    <summary>${title} (${items.length})</summary>
    ${listItems(items)}
  </details> `
}

function listItems(items: readonly string[]): Html {
  return html`<ul>
    ${items.map((item) => html`<li>${item}</li> `)}
  </ul>`
}
