import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexCommand, shellQuoted } from '../../next-step.ts'
import { visible } from '../../visible.ts'
import { change, pathOf, read, type Answer } from './operator-api.ts'
import { operatorCommand, show, type OutputOptions } from './operator-command.ts'

const MAXIMUM_STEPS = 100_000
/** Steps without progress: a delivery that is being sent right now has to finish first. */
const MAXIMUM_WAITS = 60
const WAIT_MS = 1_000

interface DeleteOptions extends OutputOptions {
  readonly reason?: string
  readonly yes?: boolean
}

export function orgDeleteCommand(): Command {
  return operatorCommand(
    'delete',
    'Delete an organization permanently: shows what is removed and what is kept, and does it with --yes',
    'org delete org_acme',
    'org delete org_acme --reason "contract ended" --yes',
  )
    .argument('<org_id>', 'id of the organization')
    .option('--reason <text>', 'why, for the operator log; required with --yes')
    .option('--yes', 'delete it; this cannot be undone')
    .action(deleteOrganization)
}

async function deleteOrganization(id: string, { reason, yes, ...output }: DeleteOptions): Promise<void> {
  const path = `${pathOf('organizations', id)}/end`
  const plan = await read(path)
  if (!yes) return output.json ? show(plan, output) : showPlan(id, plan)
  const isBegun = plan['status'] === 'ended'
  if (!isBegun) {
    if (reason === undefined) throw new CommandFailure('Say why, for the operator log: --reason TEXT.')
    await change(path, { reason, confirm: id })
  }
  show(await removeInSteps(`${path}/continue`), output)
}

/** The service continues by itself as well, so an interruption loses nothing. */
async function removeInSteps(path: string): Promise<Answer> {
  let before = ''
  for (let step = 0, waits = 0; step < MAXIMUM_STEPS && waits < MAXIMUM_WAITS; step++) {
    const answer = await change(path, {})
    if (answer['state'] === 'finished') return answer
    const removed = JSON.stringify(answer['removed'])
    if (removed === before) {
      waits += 1
      await pause(WAIT_MS)
    }
    before = removed
  }
  throw new CommandFailure(
    'The organization has ended, and its data is still being removed. The service continues by itself.',
  )
}

interface Planned {
  readonly what: string
  readonly count?: number
  readonly or_more?: boolean
  readonly how?: string
  readonly why?: string
}

function showPlan(id: string, plan: Answer): void {
  console.log(`${visible(id)} (${visible(String(plan['name']))}) is ${visible(String(plan['status']))}.`)
  console.log(['', 'Removed:', ...linesOf(plan['removed'])].join('\n'))
  console.log(['', 'What is kept, and why:', ...linesOf(plan['retained'])].join('\n'))
  if (plan['status'] === 'ended') return
  console.log('\nThis cannot be undone. Export the data first:')
  console.log(`  ${aexCommand()} org export ${shellQuoted(id)} --out ${shellQuoted(`${id}.ndjson`)}`)
  console.log('Then delete the organization:')
  console.log(`  ${aexCommand()} org delete ${shellQuoted(id)} --reason TEXT --yes`)
}

function linesOf(items: unknown): string[] {
  return (Array.isArray(items) ? (items as Planned[]) : []).map(({ what, count, or_more, how, why }) => {
    const number = count === undefined ? '' : `${or_more ? 'more than ' : ''}${count} `
    return `  ${number}${visible(what.replaceAll('_', ' '))}: ${visible(how ?? why ?? '')}`
  })
}
