import { checkDetail, checkText, describeVerdict, type CapsuleResult, type Check } from '@agent-exchange/log'
import {
  attributes,
  badge,
  html,
  notice,
  readWebAssets,
  shortId,
  standalonePage,
  table,
  type Html,
} from '@agent-exchange/web'
import { REPORT_STYLE } from './report-style.ts'
import { sequencePicture } from './sequence-picture.ts'
import { LANE_NAMES, type Timeline } from './timeline.ts'

/** What the demo found out, beside the timeline. */
export interface Outcome {
  readonly transport: 'native' | 'ds_x'
  /** Counts for the summary, in the order shown. */
  readonly counts: readonly { readonly what: string; readonly count: number }[]
  /** What the packages say together. */
  readonly story: string
  /** The same package, as its sender wrote it and as the exchange holds it. */
  readonly seen: { readonly plaintext: string; readonly stored: string }
  /** What the sender's verification of the evidence says. */
  readonly evidence: CapsuleResult
  /** What the search for plaintext in the exchange's storage found. */
  readonly search: string
}

/** One HTML file that needs nothing from outside. */
export function reportPage(timeline: Timeline, outcome: Outcome): string {
  const { transport, counts, evidence } = outcome
  const main = html`<p class="lead">
      Two companies, their agents, one exchange; transport <code>${transport}</code>. Everything below
      happened in this run.
    </p>
    <ul class="counts">
      ${counts.map(({ what, count }) => html`<li><strong>${count}</strong> ${what}</li>`)}
    </ul>
    <h2>The story of the thread</h2>
    <pre class="story" tabindex="0">${outcome.story}</pre>
    ${saidAndSeen(timeline, outcome)}
    <h2>What went where</h2>
    <div class="wide" tabindex="0" role="region" aria-label="Sequence diagram">
      ${sequencePicture(timeline)}
    </div>
    ${evidencePart(evidence)} ${timelinePart(timeline)}`
  return standalonePage({
    name: 'Agent Exchange',
    language: 'en',
    title: 'A demand change, shared and aligned',
    main,
    footer: 'Report of npm run demo',
    assets: readWebAssets(),
    style: REPORT_STYLE,
  })
}

function saidAndSeen({ sentences }: Timeline, { seen, search }: Outcome): Html {
  return html`<h2>What was said, and what the exchange saw of it</h2>
    <div class="two">
      <figure>
        <figcaption>As its sender wrote it</figcaption>
        <pre tabindex="0">${seen.plaintext}</pre>
      </figure>
      <figure>
        <figcaption>As the exchange holds it</figcaption>
        <pre tabindex="0">${seen.stored}</pre>
      </figure>
    </div>
    <p>${search}</p>
    ${table({
      caption: 'What was said, and what the exchange saw of it',
      hidesCaption: true,
      columns: [{ title: 'Who' }, { title: 'Said' }, { title: 'The exchange saw' }],
      rows: sentences.map(({ who, said, seen: stored }) => [
        LANE_NAMES[who],
        html`“${said}”`,
        html`<code>${stored}</code>`,
      ]),
    })}`
}

/** The same structure as every other verdict. */
function evidencePart(result: CapsuleResult): Html {
  const { sentence, tone, sections, details } = describeVerdict(result)
  return html`<h2>Evidence, checked offline</h2>
    ${notice({ tone, title: sentence })} ${checkGroups(result.checks)}
    ${sections.map(
      ({ title, items }) =>
        html`<h2>${title}</h2>
          ${list(items)}`,
    )}
    ${details.map(
      ({ title, items }) =>
        html`<details>
          <summary>${title} (${items.length})</summary>
          ${list(items)}
        </details>`,
    )}`
}

/** One group for each package, and one for the thread. A group with a failure is open. */
function checkGroups(checks: readonly Check[]): Html[] {
  const decided = checks.filter(({ result }) => result !== 'unproved')
  const groups = Map.groupBy(decided, ({ package_id }) => package_id)
  return [...groups].map(([packageId, found]) => {
    const failed = found.filter(({ result }) => result === 'fails').length
    const title = packageId === undefined ? 'The thread as a whole' : html`Package ${shortId(packageId)}`
    const count =
      failed === 0 ? badge('good', `${found.length} hold`) : badge('bad', `${failed} of ${found.length} fail`)
    const items = found.map((check) => {
      const isHeld = check.result !== 'fails'
      return html`<li class="${isHeld ? 'good' : 'bad'}">
        <span class="mark" role="img" aria-label="${isHeld ? 'holds' : 'fails'}"></span>
        <span>${checkText(check)} <small>${checkDetail(check)}</small></span>
      </li>`
    })
    return html`<details ${attributes({ open: failed > 0 })}>
      <summary>${title} ${count}</summary>
      <ul class="checks">
        ${items}
      </ul>
    </details>`
  })
}

function list(items: readonly string[]): Html {
  return html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`
}

function timelinePart({ moments }: Timeline): Html {
  return html`<h2>Timeline</h2>
    ${table({
      caption: 'Timeline',
      hidesCaption: true,
      columns: [
        { title: 'What' },
        { title: 'Who' },
        { title: 'After', isNumeric: true },
        { title: 'Details' },
      ],
      rows: moments.map(({ at, who, to, what, detail }) => [
        what,
        to === undefined ? LANE_NAMES[who] : `${LANE_NAMES[who]} to ${LANE_NAMES[to]}`,
        `${(at / 1_000).toFixed(2)} s`,
        html`<code>${detail}</code>`,
      ]),
    })}`
}
