import type { EvidenceReport } from '@agent-exchange/sdk'
import { escapeHtml } from './html.ts'
import { sequencePicture } from './sequence-picture.ts'
import { LANE_NAMES, type Sentence, type TimedMoment, type Timeline } from './timeline.ts'

/** What the demo found out, beside the timeline. */
export interface Outcome {
  readonly transport: 'native' | 'ds_x'
  /** Counts for the summary, in the order shown. */
  readonly counts: readonly { readonly what: string; readonly count: number }[]
  /** The same package, as its sender wrote it and as the exchange holds it. */
  readonly seen: { readonly plaintext: string; readonly stored: string }
  /** What the sender's verification of the evidence says. */
  readonly evidence: Pick<EvidenceReport, 'summary' | 'checks' | 'exchangeWord' | 'unverifiable'>
  /** What the search for plaintext in the exchange's storage found. */
  readonly search: string
}

/** One HTML file that needs nothing from outside. */
export function reportPage(timeline: Timeline, outcome: Outcome): string {
  const { transport, counts, seen, evidence, search } = outcome
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Agent Exchange: a demand change, shared and aligned</title>
<style>${STYLE}</style>
<main>
<h1>A demand change, shared and aligned</h1>
<p>Two companies, their agents, one exchange; transport <code>${transport}</code>. Everything below happened in this run.</p>
<h2>What was said, and what the exchange saw of it</h2>
<div class="two"><figure><figcaption>As its sender wrote it</figcaption><pre tabindex="0">${escapeHtml(seen.plaintext)}</pre></figure>
<figure><figcaption>As the exchange holds it</figcaption><pre tabindex="0">${escapeHtml(seen.stored)}</pre></figure></div>
<p>${escapeHtml(search)}</p>
${timeline.sentences.map(sentenceRow).join('\n')}
<ul class="counts">${counts.map(({ what, count }) => `<li><b>${count}</b> ${escapeHtml(what)}</li>`).join('')}</ul>
<h2>What went where</h2>
<div class="wide" tabindex="0" role="region" aria-label="Sequence diagram">${sequencePicture(timeline)}</div>
<h2>Evidence, checked offline</h2>
<p>${escapeHtml(evidence.summary)}</p>
${checkGroups(evidence.checks).join('\n')}
<h2>What cannot be known from it</h2>
${list(evidence.unverifiable.map(({ what, why }) => `${escapeHtml(what)} <small>${escapeHtml(why)}</small>`))}
<details><summary>What only the exchange says (${evidence.exchangeWord.length})</summary>
${list(
  evidence.exchangeWord.map(
    ({ what, value, packageId = '' }) =>
      `${escapeHtml(what)} <small>${escapeHtml(packageId)}</small> <code>${escapeHtml(JSON.stringify(value))}</code>`,
  ),
)}</details>
<h2>Timeline</h2>
<table>${timeline.moments.map(timelineRow).join('\n')}</table>
</main>
</html>
`
}

function sentenceRow({ who, said, seen }: Sentence): string {
  return `<div class="two sentence"><blockquote><b>${escapeHtml(LANE_NAMES[who])}:</b> ${escapeHtml(said)}</blockquote>
<code>${escapeHtml(seen)}</code></div>`
}

type Check = EvidenceReport['checks'][number]

/** One group for each package, and one for the thread. A group with a failure is open. */
function checkGroups(checks: readonly Check[]): string[] {
  const groups = Map.groupBy(checks, ({ packageId }) => packageId)
  return [...groups].map(([packageId, found]) => {
    const failed = found.filter(({ ok }) => !ok).length
    const title = packageId === undefined ? 'The thread as a whole' : `Package ${packageId}`
    const count = failed === 0 ? `${found.length} hold` : `${failed} of ${found.length} fail`
    return `<details class="checks"${failed > 0 ? ' open' : ''}><summary>${escapeHtml(title)}: ${count}</summary>
${list(
  found.map(
    ({ what, ok, detail }) =>
      `<span class="${ok ? 'good' : 'bad'}">${ok ? '✔' : '✖'} ${escapeHtml(what)}</span> <small>${escapeHtml(detail)}</small>`,
  ),
)}</details>`
  })
}

function list(items: readonly string[]): string {
  return items.length === 0
    ? '<p>Nothing.</p>'
    : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
}

function timelineRow({ at, who, to, kind, what, detail }: TimedMoment): string {
  const where = to === undefined ? '' : `→ ${escapeHtml(LANE_NAMES[to])}`
  return `<tr class="${kind}"><td>${(at / 1_000).toFixed(2)} s</td><td>${escapeHtml(LANE_NAMES[who])}</td><td>${where}</td><td>${escapeHtml(what)}</td><td><code>${escapeHtml(detail ?? '')}</code></td></tr>`
}

const STYLE = `
:root { color-scheme: light dark; --line: #8888; --ink: #1a1a1a; --back: #fff; --soft: #f4f4f6; --cyan: #0b7285;
  --yellow: #a15c00; --green: #2b8a3e; --magenta: #9c36b5; --blue: #1864ab; --red: #c92a2a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e9ec; --back: #17181c; --soft: #22242a; --cyan: #66d9e8;
  --yellow: #ffd43b; --green: #8ce99a; --magenta: #e599f7; --blue: #74c0fc; --red: #ffa8a8; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--back); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.counts { display: flex; flex-wrap: wrap; gap: .6rem 1.6rem; list-style: none; padding: 0; } .counts b { font-size: 1.3rem; }
.wide { overflow-x: auto; } .sequence { width: 100%; min-width: 640px; height: auto; } .sequence .life { stroke: var(--line); stroke-dasharray: 3 4; }
.sequence .head { fill: var(--soft); stroke: var(--line); } .sequence text { fill: var(--ink); font-size: 12px; text-anchor: middle; }
.sequence .chapter { text-anchor: start; font-weight: 600; }
.sequence .name { font-weight: 600; font-size: 13px; } .sequence .arrow { stroke: currentColor; stroke-width: 1.5; }
.sequence polygon { fill: currentColor; } .sequence .event .arrow { stroke-dasharray: 6 3; }
.package { color: var(--cyan); } .event { color: var(--yellow); } .receipt, .proof { color: var(--green); }
.decision { color: var(--magenta); } .transfer { color: var(--blue); }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 1rem; } figure { margin: 0; }
pre { background: var(--soft); padding: .8rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; } td { padding: .15rem .6rem .15rem 0; vertical-align: top; }
td:first-child { white-space: nowrap; text-align: right; } code { font-size: 12px; overflow-wrap: anywhere; }
.sentence { border-top: 1px solid var(--line); padding: .5rem 0; } blockquote { margin: 0; } body { overflow-wrap: anywhere; } .two > * { min-width: 0; }
pre { max-height: 24rem; } summary { cursor: pointer; padding: .3rem 0; } .good { color: var(--green); } .bad { color: var(--red); font-weight: 600; } small { color: var(--ink); opacity: .75; }
@media (max-width: 560px) { body { margin: 1rem auto; } table, tbody, tr, td { display: block; } tr { padding: .3rem 0; border-top: 1px solid var(--line); }
  td:first-child { text-align: left; } td:empty { display: none; } }
`
