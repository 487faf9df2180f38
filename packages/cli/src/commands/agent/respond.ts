import type { Command } from 'commander'
import { addressOf } from '../../agent/agent-address.ts'
import { agentCommandOf } from '../../agent/agent-options.ts'
import { approvalBy } from '../../agent/approval.ts'
import { objectFrom } from '../../agent/object-file.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { showProgress, showSent, termsFrom, withTerms, type TermsOptions } from '../../agent/sending.ts'

interface RespondOptions extends TermsOptions {
  readonly to?: string
}

export function agentRespondCommand(): Command {
  return withTerms(
    agentCommandOf(
      'respond',
      'Send a response to a package, in the same thread',
      'respond pkg_1 answer.json --policy policy.json',
      'respond pkg_1 answer.json --policy policy.json --to agent_seats_successor',
    ),
  )
    .argument('<package_id>', 'package to respond to')
    .argument('<file>', 'the response_object, - for standard input')
    .option('--to <agent_id>', "another agent of the sender's organization (default: the sender)")
    .action(respond)
}

async function respond(packageId: string, file: string, options: RespondOptions): Promise<void> {
  const { approve } = options
  const object = await objectFrom(file, ['response_object'])
  const terms = await termsFrom(options)
  const sent = await withAgent({ ...options, approve: approvalBy(approve, options) }, async (agent) => {
    const to = options.to === undefined ? undefined : await addressOf(agent, options.to)
    const input = { object, ...terms, ...(to && { to }) }
    return agent.respond(packageId, input, { onProgress: showProgress })
  })
  showSent(sent, options)
}
