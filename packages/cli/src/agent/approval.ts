import type { Approve } from '@agent-exchange/sdk'
import { CommandFailure } from '../failure.ts'
import { ask } from './ask.ts'

/** The reference that was given, or a question to the person at the terminal. */
export function approvalBy(reference: string | undefined): Approve {
  return async ({ packageId, recipient, policyId, purpose, checks }) => {
    if (reference !== undefined) return { approved: true, approvalReference: reference }
    if (!process.stdin.isTTY)
      throw new CommandFailure(
        'The policy asks for a human approval. Say where it is on record with --approve REFERENCE.',
      )
    const lines = [
      `${packageId} asks for a human approval.`,
      `  to       ${recipient.agentId} of ${recipient.organizationId}`,
      `  policy   ${policyId}: ${purpose}`,
      ...checks.map(({ checkId, passed }) => `  check    ${checkId}: ${passed ? 'passed' : 'FAILED'}`),
    ]
    const approved = await ask(lines.join('\n'), 'Approve? Type "yes": ', (answer) => answer === 'yes')
    return { approved }
  }
}
