import type { Command } from 'commander'
import { agentCommandOf } from '../../agent/agent-options.ts'
import { approvalBy } from '../../agent/approval.ts'
import { objectFrom } from '../../agent/object-file.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { showProgress, showSent, withTerms, type TermsOptions } from '../../agent/sending.ts'

export function agentRespondCommand(): Command {
  return withTerms(
    agentCommandOf(
      'respond',
      'Answer a package with a package of its own, in the same thread',
      'respond pkg_1 answer.json --policy policy.json',
    ),
  )
    .argument('<package_id>', 'the package that is answered')
    .argument('<file>', 'the response_object, - for standard input')
    .action(respond)
}

async function respond(packageId: string, file: string, options: TermsOptions): Promise<void> {
  const { skill, approve } = options
  const object = await objectFrom(file, ['response_object'])
  const policy = await objectFrom(options.policy, ['policy_envelope'])
  const sent = await withAgent({ ...options, approve: approvalBy(approve) }, (agent) =>
    agent.respond(packageId, { object, policy, skill }, { onProgress: showProgress }),
  )
  showSent(sent, options)
}
