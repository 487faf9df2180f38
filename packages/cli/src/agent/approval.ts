import type { Approve } from '@agent-exchange/sdk'
import { CommandFailure } from '../failure.ts'
import { ask } from './ask.ts'

/** Uses the given reference, or asks the person at the terminal. */
export function approvalBy(reference: string | undefined): Approve {
  return async ({ packageId, recipient, policyId, purpose, checks }) => {
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
