import { styleText } from 'node:util'
import { validateObject, type DeploymentProfile, type Failure } from '@agent-exchange/protocol'
import { Command } from 'commander'
import { profileFrom } from '../profile-file.ts'
import { readJson } from '../read-json.ts'

const EXAMPLES = `
Examples:
  $ aex validate package.json response.json
  $ cat package.json | aex validate -
  $ aex validate --json *.json | jq '.files[] | select(.valid | not)'

The type is taken from object_type. Exit code 0 only if every file is valid.`

interface FileReport {
  readonly file: string
  readonly valid: boolean
  readonly object_type?: string
  readonly failures: readonly Failure[]
  /** Why the file could not be read. */
  readonly error?: string
}

export function validateCommand(): Command {
  return new Command('validate')
    .description('Check protocol objects against their schemas and rules; needs no service')
    .argument('<files...>', 'JSON files, - for standard input')
    .option('--json', 'print one JSON document')
    .option('--profile <file>', 'deployment profile with overrides (default: $AEX_PROFILE, or none)')
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[], options: { json?: boolean; profile?: string }) => {
      const profile = await profileFrom(options.profile ?? process.env['AEX_PROFILE'])
      const reports: FileReport[] = []
      for (const file of files) reports.push(await judge(file, profile))
      const valid = reports.every((report) => report.valid)
      if (options.json) console.log(JSON.stringify({ valid, files: reports }, undefined, 2))
      else reports.forEach(print)
      if (!valid) process.exitCode = 1
    })
}

async function judge(file: string, profile: DeploymentProfile): Promise<FileReport> {
  const read = await readJson(file)
  if (!read.ok) return { file, valid: false, failures: [], error: read.reason }
  const result = validateObject(read.value, profile)
  const type = result.valid ? result.object.object_type : result.objectType
  return {
    file,
    valid: result.valid,
    ...(type !== undefined && { object_type: type }),
    failures: result.failures,
  }
}

function print({ file, valid, object_type, failures, error }: FileReport): void {
  const mark = valid ? styleText('green', '✔') : styleText('red', '✖')
  console.log([mark, file, object_type, error].filter((part) => part !== undefined).join(' '))
  for (const { pointer, rule, message } of failures) {
    console.log(
      `    ${styleText('bold', pointer === '' ? '(the object)' : pointer)} ${message} ${styleText('dim', rule)}`,
    )
  }
}
