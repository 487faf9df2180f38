import { Command, InvalidArgumentError, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { read, type Answer } from './operator-api.ts'
import { description, table } from './table.ts'

export interface OutputOptions {
  readonly json?: boolean
}

const DEFAULT_LISTED = 1_000
const MAXIMUM_LISTED = 100_000
/** Default reason in the operator log. */
const NO_REASON = 'no reason given'

/** A command with subcommands. Those with an old name are in no help. */
export function group(
  name: string,
  summary: string,
  commands: readonly Command[],
  withOldNames: readonly Command[] = [],
): Command {
  const parent = new Command(name).description(summary)
  for (const command of commands) parent.addCommand(command)
  for (const command of withOldNames) parent.addCommand(command, { hidden: true })
  return parent
}

/** Lists these commands under a heading of their own in the help of their group. */
export function under(heading: string, ...commands: readonly Command[]): readonly Command[] {
  for (const command of commands) command.helpGroup(heading)
  return commands
}

/** A subcommand that talks to the operator API. */
export function operatorCommand(name: string, summary: string, ...examples: string[]): Command {
  return new Command(name)
    .description(summary)
    .option('--json', 'print one JSON document')
    .showHelpAfterError('Run with --help to see how it is used.')
    .addHelpText('after', ['', 'Examples:', ...examples.map((example) => `  $ aex ${example}`)].join('\n'))
}

/** A subcommand that lists rows, up to --limit, over several pages. */
export function listCommand(name: string, summary: string, ...examples: string[]): Command {
  return operatorCommand(name, summary, ...examples).addOption(
    new Option('--limit <count>', 'maximum number of rows').argParser(positive).default(DEFAULT_LISTED),
  )
}

export const organizationOption = () => new Option('--org <org_id>', 'only those of this organization')
/** The exchange requires a reason; without the option, a default is sent. */
export const reasonOption = () =>
  new Option('--reason <text>', 'why, for the operator log').default(NO_REASON)
export const optionalReasonOption = () => new Option('--reason <text>', 'why, for the operator log')

function positive(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MAXIMUM_LISTED) return count
  throw new InvalidArgumentError(`Give a number from 1 to ${MAXIMUM_LISTED}.`)
}

/** Prints what was created or changed. */
export function show(answer: Answer, { json }: OutputOptions): void {
  console.log(json ? JSON.stringify(answer, undefined, 2) : description(answer))
}

export interface ListOptions extends OutputOptions {
  readonly limit: number
}

/** Reads all pages and prints one table or one document. `rowOf` prepares an item for the table. */
export async function list(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  columns: readonly string[],
  { limit, json }: ListOptions,
  rowOf: (item: object) => object = (item) => item,
): Promise<void> {
  const items: object[] = []
  let after: string | undefined
  let more = true
  while (more && items.length < limit) {
    const page = await read(path, { ...query, after })
    if (!Array.isArray(page['items'])) throw new CommandFailure('The exchange answered with no list.')
    items.push(...(page['items'] as object[]))
    after = typeof page['next_cursor'] === 'string' ? page['next_cursor'] : undefined
    more = after !== undefined && page['items'].length > 0
  }
  const shown = items.slice(0, limit)
  const has_more = more || items.length > limit
  if (json) {
    console.log(JSON.stringify({ items: shown, has_more }, undefined, 2))
    return
  }
  console.log(shown.length > 0 ? table(shown.map(rowOf), columns) : 'There are none.')
  if (has_more) console.error('There are more; use --limit to see them.')
}
