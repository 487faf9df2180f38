import { isEntryNumber, listChanges } from '@agent-exchange/gateway'
import { Command, InvalidArgumentError } from 'commander'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

interface Listing extends Json {
  readonly before?: string
}

export function gatewayRecordCommand(): Command {
  const list = gatewayLeaf(
    'list',
    'Changes of people, roles, rules and systems, newest first, in pages of 500',
    'record list',
    'record list --before 1500 --json',
  )
    .option('--before <number>', 'entries that are older than this one', readNumber)
    .action(listOnePage)
  return new Command('record')
    .description('The record of what administrators changed; nobody can alter it')
    .addCommand(list)
}

function readNumber(text: string): string {
  if (isEntryNumber(text)) return text
  throw new InvalidArgumentError('Use the number of an entry.')
}

async function listOnePage({ before, json }: Listing): Promise<void> {
  const { rows, next } = await withGateway(({ db }) => listChanges(db, { after: before }))
  if (json)
    return console.log(
      visibleJson(rows.map(({ number, ...entry }) => ({ number: Number(number), ...entry }))),
    )
  if (rows.length === 0) console.log('No entries.')
  for (const { number, at, actor, action, target, details } of rows)
    console.log(visible(`${number}  ${at}  ${actor.id}  ${action}  ${target}  ${JSON.stringify(details)}`))
  if (next !== undefined)
    console.log(`Older entries: ${aexStep('gateway', 'record', 'list', '--before', next)}`)
}
