import { styleText } from 'node:util'
import { describeConfig, type ConfigRow } from '@agent-exchange/service/config'
import { Command } from 'commander'

const EXAMPLES = `
Examples:
  $ aex config                       every setting with its meaning and its value
  $ AEX_PORT=443 aex config          what a start with this setting would find
  $ aex config --json | jq '.[] | select(.set)'

Exit code 1 if a setting is wrong. Secrets are never printed.`

export function configCommand(): Command {
  return new Command('config')
    .description('Show every setting of the service: name, meaning, default, effective value')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .action((options: { json?: boolean }) => {
      const rows = describeConfig(process.env)
      if (options.json) console.log(JSON.stringify(rows, undefined, 2))
      else rows.forEach(print)
      if (rows.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1
    })
}

function print({ name, meaning, default: usual, effective, set, wrong }: ConfigRow): void {
  const value = set ? styleText('green', effective) : effective
  const note = set ? styleText('dim', ` (default: ${usual})`) : styleText('dim', ' (default)')
  console.log(`${styleText('bold', name)} = ${value}${note}`)
  console.log(`    ${meaning}`)
  for (const message of wrong) console.log(`    ${styleText('red', `✖ ${message}`)}`)
}
