import {
  definitionList,
  exactTime,
  html,
  identifier,
  notice,
  timeline,
  visible,
  type Html,
  type Part,
  type Tone,
} from '@agent-exchange/web'
import type { showPackageRoute } from '../../operator/routes/packages.ts'
import { agentPath, deliveryPath, endpointPath, packagePath } from '../links.ts'

export type StepList = Pick<Awaited<ReturnType<typeof showPackageRoute.run>>, 'steps' | 'is_complete'>
type Step = StepList['steps'][number]

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

/** The picture: the exchange as the second lane, so that the first two parties are on its sides. */
export function timelineView(
  { steps, is_complete }: StepList,
  label: string,
  names: ReadonlyMap<string, string> = new Map(),
): Html {
  const lanes = lanesOf(steps)
  const laneOf = (party: string) => {
    const lane = lanes.indexOf(party)
    return lane < 0 ? lanes.length - 1 : lane
  }
  const picture = timeline({
    label,
    lanes: lanes.map((party) => (party === EXCHANGE ? 'the exchange' : visible(party))),
    steps: steps.map((step) => ({
      at: timeOfStep(step, names),
      title: step.what,
      tone: TONES[step.outcome],
      from: laneOf(step.from),
      ...(step.to !== undefined && { to: laneOf(step.to) }),
      facts: stepFacts(step),
    })),
  })
  const limit = notice({
    tone: 'warn',
    title: 'There is more than one timeline shows.',
    text: 'Look up single deliveries and packages by their ids.',
  })
  return html`${!is_complete && limit}${picture}`
}

/** In a thread, with the name of the package. */
function timeOfStep({ at, package_id }: Step, names: ReadonlyMap<string, string>): Html {
  const name = names.get(package_id ?? '')
  return html`${exactTime(new Date(at))}${name !== undefined && ` · ${name}`}`
}

function lanesOf(steps: readonly Step[]): string[] {
  const parties = [...new Set(steps.flatMap(({ from, to }) => (to === undefined ? [from] : [from, to])))]
  const [first, ...others] = parties.filter((party) => party !== EXCHANGE)
  const lanes = first === undefined ? [EXCHANGE] : [first, EXCHANGE, ...others]
  return lanes.length <= MAXIMUM_LANES ? lanes : [...lanes.slice(0, MAXIMUM_LANES - 1), OTHERS]
}

function stepFacts({ package_id, facts }: Step): Html {
  const shown: (readonly [string, Part])[] = Object.entries(facts).map(([name, value]) => [
    name.replaceAll('_', ' '),
    valueOf(name, value),
  ])
  const own: (readonly [string, Part])[] =
    package_id === undefined ? [] : [['package', link(package_id, packagePath(package_id))]]
  return definitionList([...own, ...shown])
}

const PATHS: Readonly<Record<string, (id: string) => string>> = {
  delivery_id: deliveryPath,
  replay_of: deliveryPath,
  webhook_endpoint_id: endpointPath,
  agent_id: agentPath,
  response_package_id: packagePath,
}

function valueOf(name: string, value: unknown): Part {
  if (Array.isArray(value)) return value.map((item) => html`<div>${itemOf(item)}</div>`)
  const text = String(value)
  const path = PATHS[name]
  if (path) return link(text, path(text))
  if (name === 'hash') return html`<bdi class="id">${text}</bdi>`
  return name.endsWith('_id') ? identifier(text) : visible(text)
}

function itemOf(item: unknown): Part {
  if (typeof item !== 'object' || item === null) return visible(String(item))
  return Object.entries(item).map(([name, value]) => html`${valueOf(name, value)} `)
}

/** Without the button that copies: a page has hundreds of ids, and each has a page where it can be copied. */
function link(id: string, href: string): Html {
  return html`<a href="${href}"><bdi class="id">${visible(id)}</bdi></a>`
}
