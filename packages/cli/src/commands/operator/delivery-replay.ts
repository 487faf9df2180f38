import { InvalidArgumentError, Option, type Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { change, pathOf, read } from './operator-api.ts'
import { operatorCommand, organizationOption, show, type OutputOptions } from './operator-command.ts'
import { replayInSteps } from './replay-in-steps.ts'
import { table } from './table.ts'
import { endpointOption, sinceOption, untilOption } from './time-option.ts'

interface ReplayOptions extends OutputOptions {
  readonly reason: string
  readonly org?: string
  readonly endpoint?: string
  readonly state?: string
  readonly since?: string
  readonly until?: string
  readonly yes?: boolean
}

interface EndpointCount {
  readonly webhook_endpoint_id: string
  readonly status: string
  readonly count: number
}

export function replayCommand(): Command {
  return operatorCommand(
    'replay',
    'Replay failed deliveries: one, or all that match the filters (without --yes, only counted)',
    'delivery replay dlv_4f… --reason "receiver fixed"',
    'delivery replay --endpoint whe_4f… --state dead --since 24h --reason "receiver fixed"',
    'delivery replay --org org_acme --reason "receiver fixed" --yes',
  )
    .argument('[delivery_id]', 'id, as in the header svc-delivery-id')
    .requiredOption('--reason <text>', 'why, for the operator log', given)
    .addOption(organizationOption())
    .addOption(endpointOption())
    .addOption(new Option('--state <state>', 'only those in this state').choices(['dead', 'failed']))
    .addOption(sinceOption())
    .addOption(untilOption())
    .option('--yes', 'replay; without it only the count is shown')
    .action(async (id: string | undefined, options: ReplayOptions) => {
      const { org, endpoint, state, since, until } = options
      const filter = { organization_id: org, webhook_endpoint_id: endpoint, state, since, until }
      const filtered = Object.values(filter).some((value) => value !== undefined)
      if (id === undefined && !filtered) {
        throw new CommandFailure(
          'Give a delivery id, or filters such as --endpoint, --org, --state or --since.',
        )
      }
      if (id === undefined) return replayMany(filter, options)
      if (filtered) throw new CommandFailure('Give either a delivery id or filters, not both.')
      return show(await change(`${pathOf('deliveries', id)}/replay`, { reason: options.reason }), options)
    })
}

function given(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('Say why.')
}

type Filter = Readonly<Record<string, string | undefined>>

async function replayMany(filter: Filter, { reason, yes, json }: ReplayOptions): Promise<void> {
  // A fixed end: deliveries that fail again meanwhile are not replayed twice.
  const until = filter['until'] ?? new Date().toISOString()
  const wanted = { ...filter, until }
  const preview = await read('/replays', wanted)
  const endpoints = preview['endpoints'] as readonly EndpointCount[]
  const ready = endpoints.filter(({ status }) => status === 'active')
  const total = ready.reduce((sum, { count }) => sum + count, 0)
  if (!json) printPreview(endpoints, total, preview['more'] === true)
  let replayed = 0
  for (const { webhook_endpoint_id } of yes ? ready : []) {
    const body = { ...wanted, webhook_endpoint_id, reason }
    replayed += await replayInSteps('/replays', body, (sum) => progress(replayed + sum, total))
  }
  const result = { ...preview, replayable: total, dry_run: yes !== true, replayed }
  if (json) console.log(JSON.stringify(result, undefined, 2))
  else if (yes) console.log(`${replayed} replayed.`)
  else if (total > 0) console.log('Nothing was replayed. Add --yes to do it.')
}

function progress(done: number, total: number): void {
  console.error(`${done} of ${Math.max(done, total)} replayed`)
}

function printPreview(endpoints: readonly EndpointCount[], total: number, more: boolean): void {
  if (endpoints.length === 0) return console.log('There is nothing to replay.')
  console.log(table(endpoints, ['webhook_endpoint_id', 'organization_id', 'status', 'count']))
  console.log(`\n${total}${more ? ' or more' : ''} can be replayed.`)
  for (const { webhook_endpoint_id: id, status, count } of endpoints) {
    if (status === 'disabled') {
      const step = aexStep('endpoint', 'enable', id, '--replay', '--reason', 'TEXT')
      console.log(`${count} cannot: ${id} is disabled. Enable it: ${step}`)
    } else if (status === 'deleted') console.log(`${count} cannot: ${id} was deleted.`)
  }
}
