import type { Command } from 'commander'
import { addressOf } from '../../agent/agent-address.ts'
import { agentCommandOf } from '../../agent/agent-options.ts'
import { approvalBy } from '../../agent/approval.ts'
import { objectFrom } from '../../agent/object-file.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { showProgress, showSent, termsFrom, withTerms, type TermsOptions } from '../../agent/sending.ts'

interface SendOptions extends TermsOptions {
  readonly to?: string
}

const SENDABLE = [
  'reasoning_package',
  'loop_thread',
  'policy_envelope',
  'network_story',
  'audit_event',
] as const

export function agentSendCommand(): Command {
  return withTerms(
    agentCommandOf(
      'send',
      'Check an object against its policy, seal it, sign it and submit it',
      'send capacity.json --policy policy.json --to agent_carmaker_planner',
      'send capacity.json --policy policy.json --approve approval_4711',
    ),
  )
    .argument('<file>', 'the object, - for standard input')
    .option('--to <agent_id>', 'recipient agent (default: the other agent of the thread)')
    .action(send)
}

async function send(file: string, options: SendOptions): Promise<void> {
  const { approve } = options
  const object = await objectFrom(file, SENDABLE)
  const terms = await termsFrom(options)
  const sent = await withAgent({ ...options, approve: approvalBy(approve, options) }, async (agent) => {
    const to = options.to === undefined ? undefined : await addressOf(agent, options.to)
    return agent.send({ object, ...terms, ...(to && { to }) }, { onProgress: showProgress })
  })
  showSent(sent, options)
}
