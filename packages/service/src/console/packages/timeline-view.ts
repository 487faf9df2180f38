import {
  definitionList,
  exactTime,
  html,
  notice,
  shortId,
  timeline,
  visible,
  type Html,
  type Part,
  type TimelineGroup,
  type TimelineNote,
  type TimelineStep,
  type Tone,
} from '@agent-exchange/web'
import { agentPath, deliveryPath, endpointPath, packagePath } from '../links.ts'
import { nameOf, type Names } from '../organization-names.ts'
import { deliveryIdOf, nestSteps, type NestedStep, type Step, type StepList } from './nest-steps.ts'

/** A timeline has room for this many lanes; further organizations share the last one. */
const MAXIMUM_LANES = 6
const EXCHANGE = 'exchange'
const OTHERS = 'other organizations'

const TONES: Readonly<Record<Step['outcome'], Tone>> = {
  good: 'good',
  pending: 'warn',
  bad: 'bad',
  neutral: 'neutral',
}

/** Steps that belong together, such as those of one package. */
export interface StepGroup {
  readonly label: string
  readonly heading?: Html
  readonly holds: (step: Step) => boolean
}

/** The picture: the exchange as the second lane, so that the first two parties are on its sides. */
export function timelineView(
  { steps, is_complete }: StepList,
  groups: readonly StepGroup[],
  names: Names,
): Html {
  const lanes = lanesOf(steps)
  const laneOf = (party: string) => {
    const lane = lanes.indexOf(party)
    return lane < 0 ? lanes.length - 1 : lane
  }
  const shown = groups.flatMap(({ label, heading, holds }): TimelineGroup[] => {
    const nested = nestSteps(steps.filter(holds))
    if (nested.length === 0) return []
    return [
      {
        label,
        ...(heading && { heading }),
        steps: nested.map((each) => stepOf(each, laneOf, names)),
      },
    ]
  })
  const picture = timeline({
    lanes: lanes.map((party) => (party === EXCHANGE ? 'the exchange' : visible(nameOf(names, party)))),
    groups: shown,
  })
  const limit = notice({
    tone: 'warn',
    title: 'There is more than one timeline shows.',
    text: 'Look up single deliveries and packages by their ids.',
  })
  return html`${!is_complete && limit}${picture}`
}

function lanesOf(steps: readonly Step[]): string[] {
  const parties = [...new Set(steps.flatMap(({ from, to }) => (to === undefined ? [from] : [from, to])))]
  const [first, ...others] = parties.filter((party) => party !== EXCHANGE)
  const lanes = first === undefined ? [EXCHANGE] : [first, EXCHANGE, ...others]
  return lanes.length <= MAXIMUM_LANES ? lanes : [...lanes.slice(0, MAXIMUM_LANES - 1), OTHERS]
}

function stepOf({ step, below }: NestedStep, laneOf: (party: string) => number, names: Names): TimelineStep {
  return {
    at: exactTime(new Date(step.at)),
    title: step.what,
    tone: TONES[step.outcome],
    from: laneOf(step.from),
    ...(step.to !== undefined && { to: laneOf(step.to) }),
    facts: stepFacts(step),
    notes: below.map((each) => noteOf(each, names)),
  }
}

/** An event says whom it reached; what follows from it says when, because that is later. */
function noteOf({ step, below }: NestedStep, names: Names): TimelineNote {
  const { kind, what, to } = step
  const notes = below.map((each) => noteOf(each, names))
  const tone = TONES[step.outcome]
  if (kind === 'notification') {
    const reached = nameOf(names, to ?? '')
    return {
      tone,
      text: html`${what} <span class="quiet">· <bdi>${visible(reached)}</bdi></span>`,
      facts: stepFacts(step),
      notes,
    }
  }
  const at = html`<span class="quiet">· ${exactTime(new Date(step.at))}</span>`
  // The page of the delivery has the rest.
  if (kind === 'attempt')
    return { tone, text: html`<a href="${deliveryPath(deliveryIdOf(step))}">${what}</a> ${at}` }
  return { tone, text: html`${what} ${at}`, facts: stepFacts(step), notes }
}

function stepFacts({ facts }: Step): Html {
  return definitionList(
    Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), valueOf(name, value)]),
  )
}

const PATHS: Readonly<Record<string, (id: string) => string>> = {
  delivery_id: deliveryPath,
  replay_of: deliveryPath,
  webhook_endpoint_id: endpointPath,
  agent_id: agentPath,
  response_package_id: packagePath,
}

/** Without buttons that copy: a page has hundreds of ids, and each has a page where it can be copied. */
function valueOf(name: string, value: unknown): Part {
  if (Array.isArray(value)) return value.map((item) => html`<div>${itemOf(item)}</div>`)
  const text = String(value)
  if (name === 'hash' || name.endsWith('_id') || Object.hasOwn(PATHS, name))
    return shortId(text, PATHS[name]?.(text))
  return visible(text)
}

function itemOf(item: unknown): Part {
  if (typeof item !== 'object' || item === null) return visible(String(item))
  return Object.entries(item).map(([name, value]) => html`${valueOf(name, value)} `)
}
