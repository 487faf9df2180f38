import type { Command } from 'commander'
import { visibleJson } from '../../visible.ts'
import { read } from './operator-api.ts'
import { operatorCommand, type OutputOptions } from './operator-command.ts'
import { statusReport, type Overview } from './status-report.ts'

/** Something needs attention at once. For scripts. */
const FAILING = 1

/** The overview of the console in a terminal. */
export function statusCommand(): Command {
  return operatorCommand(
    'status',
    'Show whether the exchange is healthy, and what needs attention',
    'status',
    'status --json',
  ).action(async ({ json }: OutputOptions) => {
    const overview = (await read('/overview')) as unknown as Overview
    console.log(json ? visibleJson(overview) : statusReport(overview))
    if (overview.status === 'failing') process.exitCode = FAILING
  })
}
