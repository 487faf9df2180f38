import type { SendProgress, SentPackage } from '@agent-exchange/sdk'
import { openAgentFolder, readAgentDefaults } from '@agent-exchange/sdk/internal/node'
import { Option, type Command } from 'commander'
import { CommandFailure } from '../failure.ts'
import { visible, visibleJson } from '../visible.ts'
import { explained } from './agent-failure.ts'
import type { AgentOptions } from './agent-options.ts'
import { folderStep, nextStep } from './next-step.ts'
import { objectFrom } from './object-file.ts'
import { DEFAULT_SKILL, DEFAULT_SKILL_TEXT, readSkill, type Skill } from './skill-option.ts'

/** Terms of sending. */
export interface TermsOptions extends AgentOptions {
  readonly policy?: string
  readonly skill?: Skill
  readonly approve?: string
}

/** Adds the terms. A draft takes no reference of an approval: a person approves it at the desk. */
export function withTerms(command: Command, { approve = true } = {}): Command {
  command
    .option(
      '--policy <file>',
      'policy_envelope for the package (default: that of the folder, aex agent defaults)',
    )
    .addOption(
      new Option(
        '--skill <id@version>',
        `skill that created the object (default: that of the folder, or ${DEFAULT_SKILL_TEXT})`,
      ).argParser(readSkill),
    )
  return approve ? command.option('--approve <reference>', 'reference of the human approval') : command
}

/** The terms of the options, completed by the defaults of the folder. */
export async function termsFrom(options: TermsOptions) {
  const { policy: file, dir } = options
  const { files } = await explained(options, () => openAgentFolder(dir))
  const defaults = await explained(options, () => readAgentDefaults(files.settings))
  const policy = file === undefined ? defaults.policy : await objectFrom(file, ['policy_envelope'])
  if (!policy)
    throw new CommandFailure(
      `Name a policy with --policy FILE, or keep one in the folder: ${folderStep(options, 'defaults', '--policy', 'FILE')}`,
    )
  return { policy, skill: options.skill ?? defaults.skill ?? DEFAULT_SKILL }
}

/** Printed to standard error: standard output is for the result. */
export function showProgress({ step }: SendProgress): void {
  console.error(`  ${step.replaceAll('_', ' ')}`)
}

export function showSent(sent: SentPackage, options: AgentOptions): void {
  const { packageId, threadId, policyReceiptId, resumed, warnings } = sent
  const placeholders = warnings.filter(({ code }) => code === 'placeholder')
  for (const { code, message } of warnings)
    if (code !== 'placeholder') console.error(`  warning: ${visible(message)}`)
  if (placeholders.length > 0) {
    const places = placeholders.map(({ pointer }) => pointer).join(', ')
    console.error(`  warning: sentences of the template were sent as they are: ${visible(places)}`)
  }
  if (options.json) {
    const shown = {
      package_id: packageId,
      thread_id: threadId,
      policy_receipt_id: policyReceiptId,
      resumed,
      warnings,
    }
    return console.log(visibleJson(shown))
  }
  console.log(`${packageId} is accepted`)
  console.log(`  thread   ${threadId}`)
  console.log(`  look     ${nextStep(options, 'thread', threadId)}`)
}
