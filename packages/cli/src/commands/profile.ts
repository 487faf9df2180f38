import { styleText } from 'node:util'
import {
  DEFAULT_PROFILE,
  OPEN_POINT_IDS,
  openPoints,
  type DeploymentProfile,
  type OpenPoint,
  type OpenPointId,
} from '@agent-exchange/protocol'
import { Argument, Command, Option } from 'commander'
import { profileFrom } from '../profile-file.ts'

const EXAMPLES = `
Examples:
  $ aex profile                      our choice on every open point
  $ aex profile my-profile.json      check an override file; differences are marked
  $ aex profile --explain O-15       one point: the question, our answer, why
  $ aex profile --json > profile.json`

export function profileCommand(): Command {
  return new Command('profile')
    .description('Show the deployment profile: our choice on each point that the specification leaves open')
    .addArgument(new Argument('[file]', 'JSON file with overrides (default: $AEX_PROFILE, or none)'))
    .option('--json', 'print the effective profile as one JSON document')
    .addOption(new Option('--explain <id>', 'explain one open point').choices(OPEN_POINT_IDS))
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, options: { json?: boolean; explain?: OpenPointId }) => {
      const profile = await profileFrom(file ?? process.env['AEX_PROFILE'])
      const ids = options.explain ? [options.explain] : OPEN_POINT_IDS
      if (options.json) console.log(JSON.stringify(pick(profile, ids), undefined, 2))
      else for (const id of ids) print(id, profile, options.explain !== undefined)
    })
}

function pick(profile: DeploymentProfile, ids: readonly OpenPointId[]): Record<string, unknown> {
  return Object.fromEntries(ids.map((id) => [id, profile[id]]))
}

function print(id: OpenPointId, profile: DeploymentProfile, withReason: boolean): void {
  const { meaning, why, settings }: OpenPoint = openPoints[id]
  console.log(`${styleText('bold', id)} ${meaning}`)
  if (withReason) console.log(`     Ours: ${why}`)
  for (const [name, value] of Object.entries(profile[id])) {
    const [text, usual] = [value, Reflect.get(DEFAULT_PROFILE[id], name)].map((each) => JSON.stringify(each))
    const note = text === usual ? '' : styleText('yellow', ` (default ${usual ?? ''})`)
    console.log(`     ${name} = ${text ?? ''}${note}`)
    if (withReason)
      console.log(`         ${String(Reflect.get(settings.properties[name] ?? {}, 'description'))}`)
  }
}
