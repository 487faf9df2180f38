import {
  DEFAULT_PROFILE,
  createTrust,
  openPoints,
  profileChanges,
  readPublishedProfile,
  TRUST_CHOICE_IDS,
  type ProfileChange,
  type TrustOverrides,
} from '@agent-exchange/protocol'
import type { KnownDeployment } from '@agent-exchange/sdk'
import { openAgentFolder, readAgentTrust, setAgentTrust } from '@agent-exchange/sdk/internal/node'
import { openFileDeployment } from '@agent-exchange/sdk/node'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { changeLine, settingText } from '../../agent/deployment-change.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { visibleJson } from '../../visible.ts'
import { table } from '../operator/table.ts'

interface Setting {
  readonly id: string
  readonly name: string
  /** Undefined for the default. */
  readonly value: unknown
}

interface RulesOptions extends AgentOptions {
  readonly set?: readonly Setting[]
}

export function agentRulesCommand(): Command {
  return folderCommandOf(
    'rules',
    'Show or set what this agent trusts, and show how its exchange decides open points',
    'rules',
    'rules --set O-47.verifying=strict',
    'rules --set O-47.verifying=default',
  )
    .addOption(
      new Option('--set <point.setting=value...>', 'set what this agent trusts; default: ours').argParser(
        (text: string, before: readonly Setting[] | undefined) => [...(before ?? []), readSetting(text)],
      ),
    )
    .action(showRules)
}

function readSetting(text: string): Setting {
  const [, id = '', name = '', value = ''] = /^(O-\d+)\.(\w+)=(.+)$/u.exec(text) ?? []
  const isKnown = TRUST_CHOICE_IDS.some(
    (each) => each === id && Object.hasOwn(openPoints[each].settings.properties, name),
  )
  if (!isKnown)
    throw new InvalidArgumentError(
      `Give POINT.SETTING=VALUE with a setting of ${TRUST_CHOICE_IDS.join(', ')}, such as O-47.verifying=strict.`,
    )
  return { id, name, value: value === 'default' ? undefined : jsonOrText(value) }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function showRules(options: RulesOptions): Promise<void> {
  const { trust, known } = await explained(options, async () => {
    const { files } = await openAgentFolder(options.dir)
    const kept = await readAgentTrust(files.settings)
    const changed = options.set ? withSettings(kept, options.set) : kept
    if (options.set) await setAgentTrust(files.settings, changed)
    return { trust: changed, known: await openFileDeployment(files.deployment).read() }
  })
  const own = createTrust(trust)
  const rules = TRUST_CHOICE_IDS.map((id) => [id, (own.ok ? own.profile : DEFAULT_PROFILE)[id]] as const)
  const differing = differencesOf(known)
  if (options.json) {
    const deployment = known && {
      checked_at: known.checkedAt,
      differences: differing,
      ...(known.changed && { changed: known.changed }),
    }
    return console.log(visibleJson({ trust: Object.fromEntries(rules), ...(deployment && { deployment }) }))
  }
  console.log('What this agent trusts; nothing that an exchange publishes changes it:')
  console.log(
    table(
      rules.flatMap(([id, settings]) =>
        Object.entries(settings).map(([name, value]) => ({
          rule: `${id}.${name}`,
          value: settingText(value),
        })),
      ),
      ['rule', 'value'],
    ),
  )
  for (const line of linesOf(known, differing)) console.log(line)
}

function withSettings(kept: TrustOverrides, settings: readonly Setting[]): TrustOverrides {
  const next: Record<string, Record<string, unknown>> = structuredClone(kept)
  for (const { id, name, value } of settings) {
    const point = (next[id] ??= {})
    if (value === undefined) Reflect.deleteProperty(point, name)
    else point[name] = value
    if (Object.keys(point).length === 0) Reflect.deleteProperty(next, id)
  }
  return next
}

function differencesOf(known: KnownDeployment | undefined): ProfileChange[] {
  const published = known && readPublishedProfile(known.published)
  return published ? profileChanges(DEFAULT_PROFILE, published) : []
}

function linesOf(known: KnownDeployment | undefined, differing: readonly ProfileChange[]): string[] {
  if (!known) return ['The exchange was not asked yet how it decides the other open points.']
  const { changed } = known
  return [
    differing.length === 0
      ? `The exchange decides all other open points by the defaults (seen ${known.checkedAt}).`
      : `The exchange differs from the defaults (seen ${known.checkedAt}):`,
    ...differing.map(changeLine),
    ...(changed ? [`It changed, noticed ${changed.noticedAt}:`, ...changed.changes.map(changeLine)] : []),
  ]
}
