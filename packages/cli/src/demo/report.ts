import type { EvidenceReport } from '@agent-exchange/sdk'
import { escapeHtml } from './html.ts'
import { sequencePicture } from './sequence-picture.ts'
import { LANE_NAMES, type Timeline } from './timeline.ts'

/** What the demo found out, beside the timeline. */
export interface Outcome {
  readonly transport: 'native' | 'ds_x'
  /** Counts for the summary, in the order shown. */
  readonly counts: readonly { readonly what: string; readonly count: number }[]
  /** The same package, as its sender wrote it and as the exchange holds it. */
  readonly seen: { readonly plaintext: string; readonly stored: string }
  /** What the sender's verification of the evidence says. */
  readonly evidence: Pick<EvidenceReport, 'summary' | 'checks' | 'exchangeWord'>
  /** What the search for plaintext in the exchange's storage found. */
  readonly search: string
}

/** One HTML file that needs nothing from outside. */
export function reportPage(timeline: Timeline, outcome: Outcome): string {
  const { transport, counts, seen, evidence, search } = outcome
  const rows = timeline.moments.map(
    ({ at, who, to, kind, what, detail }) =>
      `<tr class="${kind}"><td>${(at / 1_000).toFixed(2)} s</td><td>${escapeHtml(LANE_NAMES[who])}</td><td>${
        to === undefined ? '' : `→ ${escapeHtml(LANE_NAMES[to])}`
      }</td><td>${escapeHtml(what)}</td><td><code>${escapeHtml(detail ?? '')}</code></td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Agent Exchange: a demand change, shared and aligned</title>
<style>${STYLE}</style>
<h1>A demand change, shared and aligned</h1>
<p>Two companies, their agents, one exchange; transport <code>${transport}</code>. Everything below happened in this run.</p>
<ul class="counts">${counts.map(({ what, count }) => `<li><b>${count}</b> ${escapeHtml(what)}</li>`).join('')}</ul>
<h2>What went where</h2>
${sequencePicture(timeline)}
<h2>What the exchange saw, and what it never saw</h2>
<div class="two"><figure><figcaption>As its sender wrote it</figcaption><pre>${escapeHtml(seen.plaintext)}</pre></figure>
<figure><figcaption>As the exchange holds it</figcaption><pre>${escapeHtml(seen.stored)}</pre></figure></div>
<p>${escapeHtml(search)}</p>
<h2>Evidence, checked offline</h2>
<p>${escapeHtml(evidence.summary)}</p>
<ul class="checks">${evidence.checks
    .map(
      ({ what, ok, detail }) =>
        `<li class="${ok ? 'good' : 'bad'}">${ok ? '✔' : '✖'} ${escapeHtml(what)} <small>${escapeHtml(detail)}</small></li>`,
    )
    .join('')}</ul>
<details><summary>What only the exchange says (${evidence.exchangeWord.length})</summary>
<ul>${evidence.exchangeWord
    .map(
      ({ what, value, packageId = '' }) =>
        `<li>${escapeHtml(what)} <small>${escapeHtml(packageId)}</small> <code>${escapeHtml(JSON.stringify(value))}</code></li>`,
    )
    .join('')}</ul></details>
<h2>Timeline</h2>
<table>${rows.join('\n')}</table>
</html>
`
}

const STYLE = `
:root { color-scheme: light dark; --line: #8888; --ink: #1a1a1a; --back: #fff; --soft: #f4f4f6; --cyan: #0b7285;
  --yellow: #a15c00; --green: #2b8a3e; --magenta: #9c36b5; --blue: #1864ab; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e9ec; --back: #17181c; --soft: #22242a; --cyan: #66d9e8;
  --yellow: #ffd43b; --green: #8ce99a; --magenta: #e599f7; --blue: #74c0fc; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--back); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.counts { display: flex; flex-wrap: wrap; gap: .6rem 1.6rem; list-style: none; padding: 0; } .counts b { font-size: 1.3rem; }
.sequence { width: 100%; height: auto; } .sequence .life { stroke: var(--line); stroke-dasharray: 3 4; }
.sequence .head { fill: var(--soft); stroke: var(--line); } .sequence text { fill: var(--ink); font-size: 12px; text-anchor: middle; }
.sequence .chapter { text-anchor: start; font-weight: 600; }
.sequence .name { font-weight: 600; font-size: 13px; } .sequence .arrow { stroke: currentColor; stroke-width: 1.5; }
.sequence polygon { fill: currentColor; } .sequence .event .arrow { stroke-dasharray: 6 3; }
.package { color: var(--cyan); } .event { color: var(--yellow); } .receipt, .proof { color: var(--green); }
.decision { color: var(--magenta); } .transfer { color: var(--blue); }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 1rem; } figure { margin: 0; }
pre { background: var(--soft); padding: .8rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; } td { padding: .15rem .6rem .15rem 0; vertical-align: top; }
td:first-child { white-space: nowrap; text-align: right; } code { font-size: 12px; overflow-wrap: anywhere; }
.checks { list-style: none; padding: 0; } .good { color: var(--green); } .bad { color: #c92a2a; font-weight: 600; } small { color: var(--ink); opacity: .75; }
`
