import type { CapsuleResult, KeyStory } from './capsule-result.ts'
import { html, type SafeHtml } from './html-template.ts'
import { boundsText, checkpointLines } from './render-text.ts'
import { keyScope } from './verdict-sentence.ts'

const STYLE = html`body{font:11pt/1.45 Georgia,serif;max-width:50rem;margin:2rem auto;padding:0
1rem;color:#111} h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid #999}
.verdict{border:2px solid
#111;padding:1rem;font-size:1.1rem}.contradiction{border-color:#a00000;color:#a00000}
table{border-collapse:collapse;width:100%;font-size:.9em}th,td{border:1px solid
#bbb;padding:.3rem;text-align:left;vertical-align:top}
code{font-family:ui-monospace,monospace;font-size:.85em;overflow-wrap:anywhere} @media
print{body{margin:0;max-width:none}h2{break-after:avoid}tr{break-inside:avoid}}`

const ASSUMPTIONS = [
  'SHA-256 has no known collisions, and ES256 and Ed25519 signatures cannot be forged without the private key.',
  'Each private key was known to its owner only, until the time from which on it was revoked.',
  'The policy that was given names the right log key, and witnesses that do not act together with the operator.',
  'A signature proves who said something, not that it is true.',
  'Times without a witness are claims of whoever wrote them.',
]

/**
 * The result as one self-contained page for printing. It runs no script and loads nothing. `verifiedAt` and `file` are
 * what the caller says of this verification.
 */
export function renderCapsuleHtml(
  result: CapsuleResult,
  { verifiedAt, file }: { readonly verifiedAt: string; readonly file: string },
): string {
  const { sentence, outcome, level, required, isStrict, threadId, version } = result
  const verdictClass = outcome === 'contradiction' ? 'verdict contradiction' : 'verdict'
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
        <title>Evidence of ${threadId ?? 'an unreadable file'}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <h1>Evidence report</h1>
        <p class="${verdictClass}">${sentence}</p>
        <p>${keyScope(result)}</p>
        <table>
          ${row('File', file)} ${row('Verified at', verifiedAt)} ${row('Thread', threadId)}
          ${row('Level', level ?? 'none')}
          ${row('Required level', isStrict ? `${required}, without doubts` : required)}
          ${row('Version of the format', version)}
        </table>
        ${listOf(
          'Contradictions',
          result.contradictions.map(({ code, what }) => `${what} [${code}]`),
        )}
        ${listOf('Parties', partiesOf(result))}
        ${listOf(
          'What happened',
          result.packages.map((story) => story.sentence),
        )}
        ${provedTable(result)} ${listOf('Checkpoint of the log', checkpointLines(result))}
        ${
          result.keys.length === 0
            ? undefined
            : html`<h2>Keys and their history</h2>
                ${result.keys.map(keyTable)}`
        }
        ${checkTable(result)}
        ${listOf(
          'Not proved, and why',
          result.unproved.map(({ what, why }) => `${what}: ${why}`),
        )}
        ${listOf('Only the exchange says', wordsOf(result))}
        ${listOf(
          'Fingerprints to compare with their owners',
          result.fingerprints.map(({ of, value }) => `${of}: ${value}`),
        )}
        ${listOf('Assumptions', ASSUMPTIONS)}
      </body>
    </html> `
  return page.toString()
}

function row(name: string, value: string | number | undefined): SafeHtml {
  return html`<tr>
    <th>${name}</th>
    <td>${value}</td>
  </tr> `
}

function listOf(title: string, items: readonly string[]): SafeHtml | undefined {
  if (items.length === 0) return undefined
  return html`<h2>${title}</h2>
    <ul>
      ${items.map((item) => html`<li>${item}</li> `)}
    </ul>`
}

function partiesOf({ evidence, keys }: CapsuleResult): string[] {
  const signers = (evidence?.checks ?? []).flatMap(({ ok, signedBy }) => (ok && signedBy ? [signedBy] : []))
  const all = [...signers, ...keys].map(({ agentId, organizationId }) => `${agentId} of ${organizationId}`)
  return [...new Set(all)].toSorted()
}

function provedTable({ proved }: CapsuleResult): SafeHtml | undefined {
  if (proved.length === 0) return undefined
  return html`<h2>Proved</h2>
    <table>
      <tr>
        <th>What</th>
        <th>Package</th>
        <th>Entry</th>
        <th>Leaf</th>
        <th>Key</th>
        <th>Time</th>
      </tr>
      ${proved.map(
        ({ what, packageId, position, index, agentId, keyId, ...bounds }) =>
          html`<tr>
            <td>${what}</td>
            <td>${packageId}</td>
            <td>${position}</td>
            <td>${index}</td>
            <td>${keyId === undefined ? undefined : `${keyId} of ${agentId ?? ''}`}</td>
            <td>${boundsText(bounds)}</td>
          </tr> `,
      )}
    </table>`
}

function keyTable({ agentId, organizationId, keyId, thumbprint, events }: KeyStory): SafeHtml {
  return html`<p>Key ${keyId} of ${agentId} (${organizationId}), fingerprint <code>${thumbprint}</code></p>
    <table>
      <tr>
        <th>Event</th>
        <th>Number</th>
        <th>Leaf</th>
        <th>Recorded (claim)</th>
        <th>Not valid from</th>
        <th>Time by witnesses</th>
      </tr>
      ${events.map(
        ({ kind, number, index, recordedAt, invalidFrom, ...bounds }) =>
          html`<tr>
            <td>${kind}</td>
            <td>${number}</td>
            <td>${index}</td>
            <td>${recordedAt}</td>
            <td>${invalidFrom}</td>
            <td>${boundsText(bounds)}</td>
          </tr> `,
      )}
    </table> `
}

function checkTable({ evidence, logChecks }: CapsuleResult): SafeHtml | undefined {
  if (!evidence) return undefined
  const checks = [
    ...evidence.checks.map(({ ok, doubt, ...check }) => ({
      ...check,
      result: ok ? (doubt ? 'in doubt' : 'holds') : 'does not hold',
    })),
    ...logChecks,
  ]
  return html`<h2>Every check</h2>
    <table>
      <tr>
        <th>Check</th>
        <th>Result</th>
        <th>Detail</th>
        <th>Package</th>
        <th>Entry</th>
      </tr>
      ${checks.map(
        ({ what, result, detail, packageId, position }) =>
          html`<tr>
            <td>${what}</td>
            <td>${result}</td>
            <td>${detail}</td>
            <td>${packageId}</td>
            <td>${position}</td>
          </tr> `,
      )}
    </table>`
}

function wordsOf({ evidence }: CapsuleResult): string[] {
  return (evidence?.exchangeWord ?? []).map(({ what, value, packageId, position }) => {
    const place = [packageId, position === undefined ? undefined : `entry ${position}`].filter(
      (part) => part !== undefined,
    )
    return `${what}${place.length === 0 ? '' : ` (${place.join(', ')})`}: ${JSON.stringify(value)}`
  })
}
