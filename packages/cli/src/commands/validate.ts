import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { validateObject, type DeploymentProfile, type Failure } from '@agent-exchange/protocol'
import { Command } from 'commander'
import { profileFrom } from '../profile-file.ts'
import { parseJson, readJson, type ReadResult } from '../read-json.ts'

const EXAMPLES = `
Examples:
  $ aex validate package.json response.json
  $ cat package.json | aex validate -
  $ aex validate --json *.json | jq '.files[] | select(.valid | not)'
  $ aex validate --lines < objects.jsonl

The type is taken from object_type. Exit code 0 only if every file is valid.`

interface FileReport {
  readonly file: string
  readonly valid: boolean
  readonly object_type?: string
  readonly failures: readonly Failure[]
  /** Why the file could not be read. */
  readonly error?: string
}

interface ValidateOptions {
  readonly json?: boolean
  readonly lines?: boolean
  readonly profile?: string
}

export function validateCommand(): Command {
  return new Command('validate')
    .description('Check protocol objects against their schemas and rules; needs no service')
    .argument('[files...]', 'JSON files, - for standard input')
    .option('--json', 'print one JSON document')
    .option('--lines', 'read one object a line from standard input, and answer each with a line of JSON')
    .option('--profile <file>', 'deployment profile with overrides (default: $AEX_PROFILE, or none)')
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[], options: ValidateOptions, command: Command) => {
      const profile = await profileFrom(options.profile ?? process.env['AEX_PROFILE'])
      if (options.lines) return validateLines(profile)
      if (files.length === 0) command.error("error: missing required argument 'files'")
      const reports: FileReport[] = []
      for (const file of files) reports.push(await judge(file, profile))
      const valid = reports.every((report) => report.valid)
      if (options.json) console.log(JSON.stringify({ valid, files: reports }, undefined, 2))
      else reports.forEach(print)
      if (!valid) process.exitCode = 1
    })
}

async function judge(file: string, profile: DeploymentProfile): Promise<FileReport> {
  return reportOf(file, await readJson(file), profile)
}

/** For programs that have many objects: one process for all of them. Each line is answered before the next is read. */
async function validateLines(profile: DeploymentProfile): Promise<void> {
  let count = 0
  for await (const line of createInterface({ input: process.stdin })) {
    const report = reportOf(`line ${++count}`, parseJson(Buffer.from(line)), profile)
    if (!report.valid) process.exitCode = 1
    console.log(JSON.stringify(report))
  }
}

function reportOf(file: string, read: ReadResult, profile: DeploymentProfile): FileReport {
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
