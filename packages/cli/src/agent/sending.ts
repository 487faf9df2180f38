import type { SendProgress, SentPackage } from '@agent-exchange/sdk'
import { Option, type Command } from 'commander'
import { visible, visibleJson } from '../visible.ts'
import type { AgentOptions } from './agent-options.ts'
import { nextStep } from './next-step.ts'
import { DEFAULT_SKILL, DEFAULT_SKILL_TEXT, readSkill, type Skill } from './skill-option.ts'

/** Terms of sending. */
export interface TermsOptions extends AgentOptions {
  readonly policy: string
  readonly skill: Skill
  readonly approve?: string
}

/** Adds the terms. A draft takes no reference of an approval: a person approves it at the desk. */
export function withTerms(command: Command, { approve = true } = {}): Command {
  command
    .requiredOption('--policy <file>', 'policy_envelope for the package')
    .addOption(
      new Option('--skill <id@version>', 'skill that created the object')
        .argParser(readSkill)
        .default(DEFAULT_SKILL, DEFAULT_SKILL_TEXT),
    )
  return approve ? command.option('--approve <reference>', 'reference of the human approval') : command
}

/** Printed to standard error: standard output is for the result. */
export function showProgress({ step }: SendProgress): void {
  console.error(`  ${step.replaceAll('_', ' ')}`)
}

export function showSent(sent: SentPackage, options: AgentOptions): void {
  const { packageId, threadId, policyReceiptId, resumed, warnings } = sent
  if (warnings.length > 0) {
    const places = warnings.map(({ pointer }) => pointer).join(', ')
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
