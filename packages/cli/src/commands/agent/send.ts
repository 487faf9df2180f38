import type { SendProgress, SentPackage } from '@agent-exchange/sdk'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { approvalBy } from '../../agent/approval.ts'
import { objectFrom } from '../../agent/object-file.ts'
import { withAgent } from '../../agent/open-agent.ts'

interface SendOptions extends AgentOptions {
  readonly policy: string
  readonly to?: string
  readonly skill: { readonly id: string; readonly version: string }
  readonly approve?: string
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
      'Check an object against its policy, seal it, sign it and hand it in',
      'send capacity.json --policy policy.json --to agent_carmaker_planner',
      'send capacity.json --policy policy.json --approve approval_4711',
    ),
  )
    .argument('<file>', 'the object, - for standard input')
    .option('--to <agent_id>', 'agent that gets it (default: the one that the thread is with)')
    .action(async (file: string, options: SendOptions) => {
      const object = await objectFrom(file, SENDABLE)
      const policy = await objectFrom(options.policy, ['policy_envelope'])
      const sent = await withAgent({ ...options, approve: approvalBy(options.approve) }, async (agent) => {
        const to = options.to === undefined ? undefined : await addressOf(agent, options.to)
        return agent.send(
          { object, policy, skill: options.skill, ...(to && { to }) },
          { onProgress: progress },
        )
      })
      show(sent, options)
    })
}

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
    .action(async (packageId: string, file: string, options: SendOptions) => {
      const object = await objectFrom(file, ['response_object'])
      const policy = await objectFrom(options.policy, ['policy_envelope'])
      const sent = await withAgent({ ...options, approve: approvalBy(options.approve) }, (agent) =>
        agent.respond(packageId, { object, policy, skill: options.skill }, { onProgress: progress }),
      )
      show(sent, options)
    })
}

export function agentResumeCommand(): Command {
  return agentCommandOf(
    'resume',
    'Hand in what an earlier run sealed and did not see accepted',
    'resume',
  ).action(async (options: AgentOptions) => {
    const { packages, pruned } = await withAgent(options, (agent) => agent.resume({ onProgress: progress }))
    const rows = packages.map(({ packageId, outcome, error }) => ({
      package_id: packageId,
      outcome,
      ...(error && { error: error.code, message: error.message }),
    }))
    if (options.json) console.log(JSON.stringify({ packages: rows, pruned }, undefined, 2))
    else if (rows.length === 0) console.log('Nothing is waiting.')
    else for (const { package_id, outcome, message = '' } of rows) console.log(package_id, outcome, message)
    if (rows.some(({ outcome }) => outcome !== 'accepted')) process.exitCode = 1
  })
}

function withTerms(command: Command): Command {
  return command
    .requiredOption('--policy <file>', 'the policy_envelope that it is sent under')
    .addOption(
      new Option('--skill <id@version>', 'the skill that made it')
        .argParser(readSkill)
        .default({ id: 'skill_alignment', version: '1.0.0' }, 'skill_alignment@1.0.0'),
    )
    .option('--approve <reference>', 'a human approval, and where it is on record')
}

function readSkill(text: string): SendOptions['skill'] {
  const [, id, version] = /^([^@]+)@([^@]+)$/u.exec(text) ?? []
  if (id !== undefined && version !== undefined) return { id, version }
  throw new InvalidArgumentError('Write it as id@version, such as skill_alignment@1.0.0.')
}

/** The organization is in the directory: naming the agent is enough. */
async function addressOf(
  { context }: Parameters<Parameters<typeof withAgent>[1]>[0],
  agentId: string,
): Promise<{ organizationId: string; agentId: string }> {
  const { organization_id } = await context.connection.call('getAgent', { path: { agent_id: agentId } })
  return { organizationId: organization_id, agentId }
}

/** For people: standard output is for the result. */
function progress({ step }: SendProgress): void {
  console.error(`  ${step.replaceAll('_', ' ')}`)
}

function show(sent: SentPackage, { json }: AgentOptions): void {
  const { packageId, threadId, policyReceiptId, resumed } = sent
  if (json) {
    const shown = { package_id: packageId, thread_id: threadId, policy_receipt_id: policyReceiptId, resumed }
    return console.log(JSON.stringify(shown, undefined, 2))
  }
  console.log(`${packageId} is accepted`)
  console.log(`  thread   ${threadId}`)
  console.log(`  look     npx aex agent thread ${threadId}`)
}
