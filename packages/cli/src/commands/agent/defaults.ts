import type { PolicyEnvelope } from '@agent-exchange/protocol'
import type { Identity } from '@agent-exchange/sdk'
import { makersOf } from '@agent-exchange/sdk/internal'
import { openAgentFolder, readAgentDefaults, setAgentDefaults } from '@agent-exchange/sdk/internal/node'
import { Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { objectFrom } from '../../agent/object-file.ts'
import { DEFAULT_SKILL, readSkill, type Skill } from '../../agent/skill-option.ts'
import { visible, visibleJson } from '../../visible.ts'

interface DefaultsOptions extends AgentOptions {
  readonly policy?: string
  readonly allow?: readonly string[]
  readonly purpose: string
  readonly skill?: Skill
}

export function agentDefaultsCommand(): Command {
  return folderCommandOf(
    'defaults',
    'Show or set the policy and the skill for packages and answers that name none',
    'defaults',
    'defaults --allow org_cars org_steel',
    'defaults --policy policy.json',
    'defaults --skill skill_alignment@1.0.0',
  )
    .addOption(
      new Option(
        '--allow <organizations...>',
        'write a new policy that lets these read and answer',
      ).conflicts('policy'),
    )
    .option('--purpose <text>', 'purpose of the new policy', 'supply alignment')
    .option('--policy <file>', 'policy_envelope, kept in the folder')
    .addOption(new Option('--skill <id@version>', 'skill that creates the objects').argParser(readSkill))
    .action(showDefaults)
}

async function showDefaults(options: DefaultsOptions): Promise<void> {
  const defaults = await explained(options, async () => {
    const { files, identity } = await openAgentFolder(options.dir)
    const policy = await policyFrom(options, identity)
    const kept = await readAgentDefaults(files.settings)
    if (!policy && !options.skill) return kept
    const skill = options.skill ?? kept.skill ?? DEFAULT_SKILL
    return setAgentDefaults(files.settings, { ...(policy && { policy }), skill })
  })
  if (options.json) return console.log(visibleJson(defaults))
  const { policy, skill } = defaults
  const recipients = policy ? `${policy.policy_id}, to ${policy.allowed_recipients.join(', ')}` : 'none'
  console.log(`policy  ${visible(recipients)}`)
  console.log(`skill   ${skill ? visible(`${skill.id}@${skill.version}`) : 'none'}`)
}

async function policyFrom(
  { policy: file, allow, purpose }: DefaultsOptions,
  by: Identity,
): Promise<PolicyEnvelope | undefined> {
  if (allow) return makersOf(() => ({ by, now: new Date() })).policyEnvelope({ to: allow, purpose })
  return file === undefined ? undefined : objectFrom(file, ['policy_envelope'])
}
