import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visibleJson } from '../../visible.ts'

/** One fingerprint in 64 begins with a hyphen. It may be written in groups. */
const LOOKS_LIKE_AN_OPTION = /^-[A-Za-z0-9_\s-]{42,}$/u

/** Moves such a fingerprint behind `--`. */
function takingHyphens(command: Command): Command {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => {
    const fingerprints = args.filter((arg) => LOOKS_LIKE_AN_OPTION.test(arg))
    if (fingerprints.length === 0 || args.includes('--')) return parse(args)
    return parse([...args.filter((arg) => !fingerprints.includes(arg)), '--', ...fingerprints])
  }
  return command
}

export function agentTrustCommand(): Command {
  const command = agentCommandOf(
    'trust',
    'Trust the fingerprint of another agent; a directory with another key is refused',
    'trust agent_carmaker_planner NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  )
    .argument('<agent_id>', 'the other agent')
    .argument('<fingerprint>', 'fingerprint from its owner')
    .action(async (agentId: string, given: string, options: AgentOptions) => {
      const fingerprint = given.replaceAll(/\s/gu, '')
      // Stored without a request to the exchange.
      const pins = await withAgent({ ...options, lazily: true }, (agent) => agent.trust(agentId, fingerprint))
      if (options.json) return console.log(visibleJson(snakeCased(pins)))
      console.log(`${agentId} is trusted by its fingerprint`)
      console.log('  a directory that shows another one is refused when you next send or open')
    })
  return takingHyphens(command)
}
