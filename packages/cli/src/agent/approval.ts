import type { Approve } from '@agent-exchange/sdk'
import { approverOf } from '@agent-exchange/sdk/internal/node'
import { CommandFailure } from '../failure.ts'
import { ask } from './ask.ts'
import { nextStep, type Place } from './next-step.ts'

/**
 * Uses the given reference, or asks the person at the terminal. In a folder with an approver neither counts: a draft is
 * approved at the desk.
 */
export function approvalBy(reference: string | undefined, place: Place & { readonly dir: string }): Approve {
  return async ({ packageId, recipient, policyId, purpose, checks }) => {
    if (await approverOf(place.dir))
      throw new CommandFailure(
        `The policy requires a human approval, and this folder has an approver. Make a draft: ${nextStep(place, 'draft', 'create', '--help')}`,
      )
    if (reference !== undefined) return { approved: true, approvalReference: reference }
    if (!process.stdin.isTTY)
      throw new CommandFailure(
        'The policy requires a human approval. Pass its reference with --approve REFERENCE.',
      )
    const lines = [
      `${packageId} requires a human approval.`,
      `  to       ${recipient.agentId} of ${recipient.organizationId}`,
      `  policy   ${policyId}: ${purpose}`,
      ...checks.map(({ checkId, passed }) => `  check    ${checkId}: ${passed ? 'passed' : 'FAILED'}`),
    ]
    const approved = await ask(lines.join('\n'), 'Approve? Type "yes": ', (answer) => answer === 'yes')
    return { approved }
  }
}
