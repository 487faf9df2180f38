import type { CheckResult, StoredDraft } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { addressOf } from '../../agent/agent-address.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { nextStep } from '../../agent/next-step.ts'
import { failureLine, objectFrom } from '../../agent/object-file.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { showProgress, showSent, termsFrom, withTerms, type TermsOptions } from '../../agent/sending.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visible, visibleJson } from '../../visible.ts'
import { group } from '../operator/operator-command.ts'
import { table } from '../operator/table.ts'

type CreateOptions = Omit<TermsOptions, 'approve'> & { readonly to?: string; readonly respondsTo?: string }

const SENDABLE = [
  'reasoning_package',
  'loop_thread',
  'policy_envelope',
  'network_story',
  'audit_event',
] as const
const COLUMNS = ['draft_id', 'state', 'created_at', 'to', 'object']

export function agentDraftCommand(): Command {
  return group('draft', 'Packages that are not sealed yet, such as those that wait for a person', [
    createCommand(),
    listCommand(),
    sendCommand(),
    discardCommand(),
  ])
}

function createCommand(): Command {
  return withTerms(
    agentCommandOf(
      'create',
      'Store an object as a draft, and evaluate the five checks',
      'draft create capacity.json --policy policy.json --to agent_carmaker_planner',
      'draft create answer.json --policy policy.json --responds-to pkg_1',
    ),
    { approve: false },
  )
    .argument('<file>', 'the object, - for standard input')
    .option('--to <agent_id>', 'recipient agent (default: the other agent of the thread)')
    .option('--responds-to <package_id>', 'package that the draft responds to')
    .action(create)
}

async function create(file: string, options: CreateOptions): Promise<void> {
  const { respondsTo } = options
  const { policy, skill } = await termsFrom(options)
  const { draft, passed, checks, warnings } = await withAgent(options, async (agent) => {
    const to = options.to === undefined ? {} : { to: await addressOf(agent, options.to) }
    const terms = { policy, skill, ...to }
    const { draftId } = await agent.drafts.create(
      respondsTo === undefined
        ? { ...terms, object: await objectFrom(file, SENDABLE) }
        : { ...terms, object: await objectFrom(file, ['response_object']), respondsTo },
    )
    return agent.drafts.evaluate(draftId)
  })
  if (options.json)
    return console.log(visibleJson({ ...summaryOf(draft), passed, checks: snakeCased(checks), warnings }))
  console.log(`${draft.draftId} is ${draft.state}`)
  for (const check of checks) {
    console.log(`  ${check.checkId.padEnd(26)}${resultOf(check)}`)
    if (check.judged) for (const failure of check.failures) console.log(`  ${failureLine(failure)}`)
  }
  for (const { pointer } of warnings)
    console.error(`  warning: a sentence of the template: ${visible(pointer)}`)
  console.log(stepAfter(draft, passed, options))
}

/** What cannot be sent is neither approved nor sent. */
function stepAfter({ draftId, state }: StoredDraft, passed: boolean, options: CreateOptions): string {
  if (!passed)
    return `  It cannot be sent. Correct the object or the policy, and draft it again.\n  discard  ${nextStep(options, 'draft', 'discard', draftId)}`
  return state === 'waiting'
    ? `  approve  ${nextStep(options, 'desk')}`
    : `  send     ${nextStep(options, 'draft', 'send', draftId)}`
}

function resultOf({ passed, judged }: CheckResult): string {
  if (passed) return 'passed'
  return judged ? 'FAILED' : 'not evaluated'
}

function listCommand(): Command {
  return agentCommandOf('list', 'List the open drafts, oldest first', 'draft list').action(
    async (options: AgentOptions) => {
      const { drafts, damaged } = await withAgent({ ...options, lazily: true }, async (agent) => ({
        drafts: await agent.drafts.list(),
        damaged: await agent.drafts.damaged(),
      }))
      if (options.json) return console.log(visibleJson({ drafts: drafts.map(summaryOf), damaged }))
      console.log(drafts.length === 0 ? 'There are no drafts.' : table(drafts.map(summaryOf), COLUMNS))
      for (const draftId of damaged) console.error(`${draftId} was changed or is damaged. Discard it.`)
    },
  )
}

function sendCommand(): Command {
  return agentCommandOf('send', 'Seal and send a draft', 'draft send DRAFT_ID')
    .argument('<draft_id>', 'the draft')
    .action(async (draftId: string, options: AgentOptions) => {
      const how = { onProgress: showProgress }
      showSent(await withAgent(options, (agent) => agent.drafts.send(draftId, how)), options)
    })
}

function discardCommand(): Command {
  return agentCommandOf('discard', 'Remove a draft', 'draft discard DRAFT_ID')
    .argument('<draft_id>', 'the draft')
    .action(async (draftId: string, options: AgentOptions) => {
      await withAgent({ ...options, lazily: true }, (agent) => agent.drafts.discard(draftId))
      console.log(options.json ? visibleJson({ draft_id: draftId }) : `${visible(draftId)} is discarded`)
    })
}

function summaryOf({
  draftId,
  state,
  createdAt,
  recipient,
  object,
  digest,
  packageId,
  threadId,
}: StoredDraft) {
  return {
    draft_id: draftId,
    state,
    created_at: createdAt,
    to: recipient.agentId,
    object: object.object_type,
    package_id: packageId,
    thread_id: threadId,
    digest,
  }
}
