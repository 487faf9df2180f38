import { addDelegation, endDelegation, listDelegations } from '@agent-exchange/gateway'
import { Command, InvalidArgumentError } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { actorOf } from './actor.ts'
import { byOption, gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

interface NewDelegation extends Json {
  readonly from: string
  readonly to: string
  readonly until: Date
  readonly by: string
}

export function gatewayDelegationCommand(): Command {
  const add = gatewayLeaf(
    'add',
    'Let a person approve for an approver until the given day',
    'delegation add --from person_4f… --to person_9a… --until 2026-12-24 --by "Ida Berg"',
  )
    .requiredOption('--from <person_id>', 'approver who is away')
    .requiredOption('--to <person_id>', 'person who approves instead; it cannot be passed on')
    .requiredOption('--until <day>', 'last day, in UTC, at most 92 days from now', readDay)
    .addOption(byOption())
    .action(addOne)
  const list = gatewayLeaf('list', 'Delegations that have not ended', 'delegation list').action(listAll)
  const end = gatewayLeaf('end', 'End a delegation now', 'delegation end delegation_4f…')
    .argument('<delegation_id>', 'see: aex gateway delegation list')
    .option('--by <name>', 'person who is responsible for it; otherwise the user of the operating system')
    .action(endOne)
  return new Command('delegation')
    .description('People who approve for others for a time')
    .addCommand(add)
    .addCommand(list)
    .addCommand(end)
}

/** The end of the day that is given. */
function readDay(text: string): Date {
  const day = new Date(`${text}T23:59:59.999Z`)
  if (/^\d{4}-\d\d-\d\d$/u.test(text) && day.toString() !== 'Invalid Date') return day
  throw new InvalidArgumentError('Use a day such as 2026-12-24.')
}

async function addOne({ from, to, until, by, json }: NewDelegation): Promise<void> {
  const made = await withGateway(({ db, now }) =>
    addDelegation(db, { from, to, endsAt: until }, { actor: actorOf(by), now: now() }),
  )
  if (json)
    return console.log(visibleJson({ delegation_id: made.delegationId, from, to, ends_at: made.endsAt }))
  console.log(visible(`${to} approves for ${from} until ${made.endsAt} (${made.delegationId}).`))
}

async function listAll({ json }: Json): Promise<void> {
  const found = await withGateway(({ db, now }) => listDelegations(db, now()))
  const rows = found.map(({ delegationId, from, to, endsAt, addedBy }) => ({
    delegation_id: delegationId,
    from,
    to,
    ends_at: endsAt,
    added_by: addedBy,
  }))
  if (json) return console.log(visibleJson(rows))
  if (rows.length === 0) console.log('No delegations.')
  for (const { delegation_id, from, to, ends_at, added_by } of rows)
    console.log(visible(`${delegation_id}  ${to} for ${from} until ${ends_at}; by ${added_by}`))
}

async function endOne(delegationId: string, { by, json }: Json & { readonly by?: string }): Promise<void> {
  const isEnded = await withGateway(({ db, now }) =>
    endDelegation(db, delegationId, { actor: actorOf(by), now: now() }),
  )
  if (!isEnded)
    throw new CommandFailure(
      `There is no ${delegationId} that has not ended. List them: ${aexStep('gateway', 'delegation', 'list')}`,
    )
  if (json) return console.log(visibleJson({ delegation_id: delegationId, ended: true }))
  console.log(visible(`${delegationId} has ended.`))
}
