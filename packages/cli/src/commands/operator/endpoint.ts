import { Option, type Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { change, pathOf, read, type Answer } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  optionalReasonOption,
  organizationOption,
  reasonOption,
  show,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'
import { replayInSteps } from './replay-in-steps.ts'

const COLUMNS = [
  'webhook_endpoint_id',
  'organization_id',
  'status',
  'status_reason',
  'last_error',
  'failing_since',
  'url',
]
const STATUSES = ['active', 'disabled', 'deleted']

export function endpointCommand(): Command {
  return group('endpoint', 'Webhook endpoints', [
    listCommand(
      'list',
      'List webhook endpoints, with why one was disabled, and the last error of one that fails',
      'endpoint list --org org_acme',
      'endpoint list --status disabled',
    )
      .addOption(organizationOption())
      .addOption(new Option('--status <status>', 'only those in this status').choices(STATUSES))
      .action(({ org, status, ...options }: ListOptions & { org?: string; status?: string }) =>
        list('/endpoints', { organization_id: org, status }, COLUMNS, options, rowOf),
      ),
    enableCommand(),
    statusCommand('disable', 'Disable an endpoint; its notifications are kept', reasonOption()),
    statusCommand(
      'delete',
      'Delete an endpoint permanently; its deliveries stay readable',
      optionalReasonOption(),
    ),
  ])
}

interface EnableOptions extends OutputOptions {
  readonly reason?: string
  readonly replay?: boolean
}

function enableCommand(): Command {
  return operatorCommand(
    'enable',
    'Enable a disabled endpoint, with --replay also replay what it missed',
    'endpoint enable whe_4f… --reason "receiver is back"',
    'endpoint enable whe_4f… --replay --reason "receiver is back"',
  )
    .argument('<webhook_endpoint_id>', 'id of the endpoint')
    .option('--replay', 'replay what it missed while it was disabled; works for one that is enabled already')
    .addOption(optionalReasonOption())
    .action(async (id: string, { reason, replay, json }: EnableOptions) => {
      if (replay && reason === undefined) throw new CommandFailure('A replay needs --reason.')
      const enabled = await enable(id, reason, replay ?? false)
      const missed = missedBy(enabled)
      const replayed = replay ? await replayMissed(id, reason, missed) : undefined
      show({ ...enabled, ...(replayed !== undefined && { replayed }) }, { json: json ?? false })
      if (!replay && missed > 0) {
        console.error(
          `It missed ${missed} while it was disabled. To send them: ${aexStep('endpoint', 'enable', id, '--replay', '--reason', 'TEXT')}`,
        )
      }
    })
}

/** With --replay, an active endpoint is fine. */
async function enable(id: string, reason: string | undefined, orActive: boolean): Promise<Answer> {
  const path = pathOf('endpoints', id)
  if (orActive) {
    const found = await read(path)
    if (found['status'] === 'active') return found
  }
  return change(`${path}/enable`, { reason })
}

function missedBy({ missed }: Answer): number {
  const { notifications = 0, deliveries = 0 } = (missed ?? {}) as Record<string, number>
  return notifications + deliveries
}

function replayMissed(id: string, reason: string | undefined, missed: number): Promise<number> {
  return replayInSteps(`${pathOf('endpoints', id)}/replay-missed`, { reason }, (sum) =>
    console.error(`${sum} of ${Math.max(sum, missed)} replayed`),
  )
}

function statusCommand(verb: 'disable' | 'delete', summary: string, reason: Option): Command {
  return operatorCommand(verb, summary, `endpoint ${verb} whe_4f… --reason "receiver moved"`)
    .argument('<webhook_endpoint_id>', 'id of the endpoint')
    .addOption(reason)
    .action(async (id: string, options: OutputOptions & { reason?: string }) => {
      show(await change(`${pathOf('endpoints', id)}/${verb}`, { reason: options.reason }), options)
    })
}

/** An active endpoint whose last attempt failed is not merely active. */
function rowOf(endpoint: { readonly status?: string; readonly last_error?: string | null }): object {
  const isFailing = endpoint.status === 'active' && typeof endpoint.last_error === 'string'
  return isFailing ? { ...endpoint, status: 'active, failing' } : endpoint
}
