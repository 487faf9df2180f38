import { openAgentFolder, readAgentDefaults, setAgentDefaults } from '@agent-exchange/sdk/node'
import { Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { objectFrom } from '../../agent/object-file.ts'
import { readSkill, type Skill } from '../../agent/skill-option.ts'
import { visible, visibleJson } from '../../visible.ts'

interface DefaultsOptions extends AgentOptions {
  readonly policy?: string
  readonly skill?: Skill
}

export function agentDefaultsCommand(): Command {
  return folderCommandOf(
    'defaults',
    'Show or set the policy and the skill for packages and answers that name none',
    'defaults',
    'defaults --policy policy.json',
    'defaults --skill skill_alignment@1.0.0',
  )
    .option('--policy <file>', 'policy_envelope, kept in the folder')
    .addOption(new Option('--skill <id@version>', 'skill that creates the objects').argParser(readSkill))
    .action(async ({ policy: file, skill, ...options }: DefaultsOptions) => {
      const policy = file === undefined ? undefined : await objectFrom(file, ['policy_envelope'])
      const defaults = await explained(options, async () => {
        const { files } = await openAgentFolder(options.dir)
        if (policy === undefined && skill === undefined) return readAgentDefaults(files.settings)
        return setAgentDefaults(files.settings, { ...(policy && { policy }), ...(skill && { skill }) })
      })
      if (options.json) return console.log(visibleJson(defaults))
      const { policy: kept, skill: used } = defaults
      console.log(
        `policy  ${kept ? visible(`${kept.policy_id}, to ${kept.allowed_recipients.join(', ')}`) : 'none'}`,
      )
      console.log(`skill   ${used ? visible(`${used.id}@${used.version}`) : 'none'}`)
    })
}
