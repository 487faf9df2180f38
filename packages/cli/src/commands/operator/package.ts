import { PACKAGE_STATES } from '@agent-exchange/protocol'
import { Option, type Command } from 'commander'
import { pathOf, read } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  organizationOption,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'
import { sinceOption, untilOption } from './time-option.ts'
import { timelineReport, type ShownTimeline } from './timeline-report.ts'

const COLUMNS = ['package_id', 'state', 'accepted_at', 'sender_agent_id', 'recipient_agent_id', 'thread_id']

interface PackageListOptions extends ListOptions {
  readonly org?: string
  readonly agent?: string
  readonly state?: string
  readonly since?: string
  readonly until?: string
}

export function packageCommand(): Command {
  return group('package', 'Packages of all organizations: where they are, never what they say', [
    listCommand(
      'list',
      'List packages, newest first, as long as their notifications are kept',
      'package list --org org_acme --since 24h',
      'package list --agent agent_acme --state delivered --json',
    )
      .addOption(organizationOption())
      .option('--agent <agent_id>', 'only those that this agent sent or received')
      .addOption(new Option('--state <state>', 'only those in this state').choices([...PACKAGE_STATES]))
      .addOption(sinceOption())
      .addOption(untilOption())
      .action(({ org, agent, state, since, until, ...options }: PackageListOptions) => {
        const query = { organization_id: org, agent_id: agent, state, since, until }
        return list('/packages', query, COLUMNS, options)
      }),
    operatorCommand(
      'show',
      'Show where a package is, and all that happened to it: receipts, events, webhooks, evidence',
      'package show pkg_4f…',
    )
      .argument('<package_id>', 'id of the package')
      .action(async (id: string, options: OutputOptions) => {
        printTimeline(await read(pathOf('packages', id)), options)
      }),
  ])
}

/** Prints an answer that has a timeline. */
export function printTimeline(answer: object, { json }: OutputOptions): void {
  console.log(json ? JSON.stringify(answer, undefined, 2) : timelineReport(answer as ShownTimeline))
}
