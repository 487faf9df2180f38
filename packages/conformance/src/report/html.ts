import type { CheckResult } from '../run/check.ts'
import { type RequirementVerdict, verdictFor } from '../run/verdicts.ts'
import type { Observation } from '../wire/observed.ts'
import { badgeText } from './badge.ts'
import { commandOf } from './curl.ts'
import { escaped } from './junit.ts'
import { countsOf, openPointsOf, type Report } from './report.ts'

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.5rem}
details{border-top:1px solid #d8dee4;padding:.35rem 0}summary{cursor:pointer}
details details{margin-left:1.5rem}pre{background:#f6f8fa;padding:.6rem;overflow-x:auto;white-space:pre-wrap;word-break:break-all}
.pass{color:#116329}.fail{color:#a40e26;font-weight:600}.skipped,.error{color:#7a4d00}.not-judged{color:#57606a}
code{font-size:.9em}dt{font-weight:600}dd{margin:0 0 .4rem 1.5rem}`

/** A page without scripts and without outside resources. */
export function htmlOf(report: Report): string {
  const { passed, failed, errors, skipped, notJudged } = countsOf(report)
  const points = openPointsOf(report).map(
    ([id, observed]) =>
      `<dt>${escaped(id)}</dt>${observed.map((text) => `<dd>open point, observed: ${escaped(text)}</dd>`).join('')}`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Conformance of ${escaped(report.judged)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Conformance of ${escaped(report.judged)}</h1>
<p><strong>${passed}</strong> requirements passed, <strong>${failed}</strong> failed, ${errors} were not completed, ${skipped} were skipped, ${notJudged} are not judged of this ${report.subject}.
${escaped(badgeText(report))}. Finished ${escaped(report.finishedAt)}, seed <code>${escaped(report.seed)}</code>.</p>
<h2>Requirements</h2>
${report.verdicts.map(requirementOf).join('\n')}
<h2>Open points</h2>
<p>The specification leaves these questions to a deployment. They are shown and not judged.</p>
<dl>${points.join('\n')}</dl>
</body>
</html>
`
}

function requirementOf({ requirement, verdict, checks }: RequirementVerdict): string {
  const { id, sentence, unseen } = requirement
  const note = unseen === undefined ? '' : `<p>Not judged: ${escaped(unseen)}.</p>`
  return `<details${verdict === 'fail' ? ' open' : ''}><summary><code>${id}</code> <span class="${verdict.replace(' ', '-')}">${verdict}</span> ${escaped(sentence)}</summary>
${note}${checks.map((check) => checkOf({ ...check, verdict: verdictFor(id, check) })).join('\n')}</details>`
}

function checkOf({ name, title, verdict, reason, observed }: CheckResult): string {
  const why = reason === undefined ? '' : `<p class="${verdict}">${escaped(reason)}</p>`
  return `<details><summary><span class="${verdict}">${verdict}</span> ${escaped(title)} <code>${escaped(name)}</code></summary>
${why}${observed.map(exchangeOf).join('\n')}</details>`
}

function exchangeOf(observation: Observation): string {
  const { title, outcome, answer } = shownOf(observation)
  return `<details><summary><code>${escaped(title)}</code>${escaped(outcome)}</summary>
<pre>${escaped(commandOf(observation))}</pre>
<pre>${escaped(answer)}</pre></details>`
}

const TITLE_LENGTH = 80

function shownOf(observation: Observation): { title: string; outcome: string; answer: string } {
  const { answer } = observation
  if ('line' in observation) return { title: observation.line.slice(0, TITLE_LENGTH), outcome: '', answer }
  const { method, url, status, answerHeaders } = observation
  // The requests of a log have paths only.
  const path = URL.canParse(url) ? new URL(url).pathname : url
  const headers = Object.entries(answerHeaders).map(([name, value]) => `${name}: ${value}`)
  const text = [String(status), ...headers, '', answer].join('\n')
  return { title: `${method} ${path}`, outcome: ` answered ${status}`, answer: text }
}
