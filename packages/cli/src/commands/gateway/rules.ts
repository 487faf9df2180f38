import {
  addRule,
  listRules,
  MAXIMUM_APPROVERS_OF_RULE,
  MAXIMUM_PEOPLE_OF_RULE,
  removeRule,
  type ApprovalRule,
} from '@agent-exchange/gateway'
import { SENSITIVITIES, type Sensitivity } from '@agent-exchange/sdk/internal'
import { Command, InvalidArgumentError, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { actorOf } from './actor.ts'
import { byOption, gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

interface NewRule extends Json {
  readonly partner?: string
  readonly policy?: string
  readonly type?: string
  readonly sensitivity?: Sensitivity
  readonly people: number
  readonly approver: readonly string[]
  readonly by: string
}

export function gatewayRuleCommand(): Command {
  const add = gatewayLeaf(
    'add',
    'Ask for the approval of people before a draft is sent, whatever its policy says',
    'rule add --partner org_cars --people 2 --by "Ida Berg"',
    'rule add --sensitivity confidential --approver person_4f… --by "Ida Berg"',
  )
    .option('--partner <organization_id>', 'drafts for this organization', readId)
    .option('--policy <policy_id>', 'drafts under this policy', readId)
    .option('--type <package_type>', 'drafts of this package type, such as capacity_response', readId)
    .addOption(
      new Option('--sensitivity <level>', 'drafts with a fact of at least this sensitivity').choices(
        SENSITIVITIES,
      ),
    )
    .option('--people <number>', `people who approve, 1 to ${MAXIMUM_PEOPLE_OF_RULE}`, readPeople, 1)
    .option(
      '--approver <person_id...>',
      'only these people; otherwise everybody with the role',
      readApprover,
      [],
    )
    .addOption(byOption())
    .action(addOne)
  const list = gatewayLeaf('list', 'Rules of approval', 'rule list').action(listAll)
  const remove = gatewayLeaf(
    'remove',
    'End a rule; approvals that were given under it are void',
    'rule remove rule_4f… --by "Ida Berg"',
  )
    .argument('<rule_id>', 'see: aex gateway rule list')
    .addOption(byOption())
    .action(removeOne)
  return new Command('rule')
    .description('Who must approve what; without a rule one approver, where the policy needs a person')
    .addCommand(add)
    .addCommand(list)
    .addCommand(remove)
}

const LONGEST_ID = 200

function readId(text: string): string {
  if (text !== '' && text.length <= LONGEST_ID) return text
  throw new InvalidArgumentError(`Use 1 to ${LONGEST_ID} characters.`)
}

function readPeople(text: string): number {
  const people = Number(text)
  if (Number.isInteger(people) && people >= 1 && people <= MAXIMUM_PEOPLE_OF_RULE) return people
  throw new InvalidArgumentError(`Use a number from 1 to ${MAXIMUM_PEOPLE_OF_RULE}.`)
}

function readApprover(text: string, before: readonly string[]): readonly string[] {
  const all = [...new Set([...before, readId(text)])]
  if (all.length <= MAXIMUM_APPROVERS_OF_RULE) return all
  throw new InvalidArgumentError(`Name at most ${MAXIMUM_APPROVERS_OF_RULE} people.`)
}

async function addOne(options: NewRule): Promise<void> {
  const { partner = null, policy = null, type = null, sensitivity = null, people, approver, by } = options
  if (approver.length > 0 && approver.length < people)
    throw new CommandFailure(`${people} people have to approve: name at least as many with --approver.`)
  const terms = { partner, policyId: policy, packageType: type, sensitivity, people, approvers: approver }
  const rule = await withGateway(({ db, now }) => addRule(db, terms, { actor: actorOf(by), now: now() }))
  if (options.json) return console.log(visibleJson(toJson(rule)))
  console.log(visible(`${rule.ruleId}: ${wordsOf(rule)}.`))
}

async function listAll({ json }: Json): Promise<void> {
  const rules = await withGateway(({ db }) => listRules(db))
  if (json) return console.log(visibleJson(rules.map(toJson)))
  if (rules.length === 0)
    console.log('No rules: one approver is enough, where the policy of a draft needs a person.')
  for (const rule of rules) console.log(visible(`${rule.ruleId}  ${wordsOf(rule)}; by ${rule.addedBy}`))
}

async function removeOne(ruleId: string, { by, json }: Json & { readonly by: string }): Promise<void> {
  const isRemoved = await withGateway(({ db, now }) =>
    removeRule(db, ruleId, { actor: actorOf(by), now: now() }),
  )
  if (!isRemoved)
    throw new CommandFailure(`There is no ${ruleId}. List rules: ${aexStep('gateway', 'rule', 'list')}`)
  if (json) return console.log(visibleJson({ rule_id: ruleId, removed: true }))
  console.log(visible(`${ruleId} is removed.`))
}

function wordsOf({ people, approvers, partner, policyId, packageType, sensitivity }: ApprovalRule): string {
  const who = approvers.length > 0 ? ` of ${approvers.join(', ')}` : ''
  const drafts = [
    partner !== null && `for ${partner}`,
    policyId !== null && `under ${policyId}`,
    packageType !== null && `of type ${packageType}`,
    sensitivity !== null && `with a fact that is ${sensitivity} or more`,
  ].filter((part) => part !== false)
  const count = people === 1 ? '1 person' : `${people} people`
  return `${count}${who} for ${['drafts', ...(drafts.length > 0 ? drafts : ['of every kind'])].join(' ')}`
}

const toJson = (rule: ApprovalRule) => ({
  rule_id: rule.ruleId,
  partner: rule.partner,
  policy_id: rule.policyId,
  package_type: rule.packageType,
  sensitivity: rule.sensitivity,
  people: rule.people,
  approvers: rule.approvers,
  added_by: rule.addedBy,
  added_at: rule.addedAt,
})
