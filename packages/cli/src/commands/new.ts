import { OBJECT_TYPES, validateObject, type ObjectType } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import { Argument, Command } from 'commander'
import { folderOption } from '../agent/agent-options.ts'
import { writeContent } from '../agent/content-file.ts'
import { identityFrom } from '../agent/identity.ts'
import { failureLines } from '../agent/object-file.ts'
import { CommandFailure } from '../failure.ts'
import { visibleJson } from '../visible.ts'

const EXAMPLES = `
Examples:
  $ aex new policy_envelope --to org_carmaker --out policy.json
  $ aex new reasoning_package --to org_carmaker --policy-id pol_alignment --out capacity.json
  $ aex new response_object --to org_seats --about pkg_1 --thread thread_1 --out answer.json

The object is valid as it is; replace its sentences with yours, then check again with \`aex validate\`.
Organization and agent are those of the agent folder, unless --org and --agent say otherwise.`

interface NewOptions {
  readonly dir: string
  readonly to: string
  readonly org?: string
  readonly agent?: string
  readonly thread?: string
  readonly about?: string
  readonly policyId?: string
  readonly out?: string
  readonly json?: boolean
}

export function newCommand(): Command {
  return new Command('new')
    .description('Write a new protocol object as a template')
    .addArgument(new Argument('<object_type>', 'what to write').choices(OBJECT_TYPES))
    .requiredOption('--to <org_id>', 'recipient organization')
    .option('--org <org_id>', 'organization of the author')
    .option('--agent <agent_id>', 'agent of the author')
    .option('--thread <thread_id>', 'thread that it belongs to (default: a new one)')
    .option('--about <package_id>', 'package that it answers or is about')
    .option('--policy-id <policy_id>', 'policy that it names (default: a new id)')
    .option('--out <file>', 'file to write, never over an existing one (default: standard output)')
    .option('--json', 'print one JSON document: the object, or with --out the name of its file')
    .addOption(folderOption())
    .addHelpText('after', EXAMPLES)
    .action(write)
}

async function write(type: ObjectType, options: NewOptions): Promise<void> {
  const object = newObject(type, {
    by: await identityFrom(options),
    to: options.to,
    now: new Date(),
    ...(options.thread !== undefined && { threadId: options.thread }),
    ...(options.about !== undefined && { about: options.about }),
    ...(options.policyId !== undefined && { policyId: options.policyId }),
  })
  // Only given ids can be invalid.
  const result = validateObject(object)
  if (!result.valid)
    throw new CommandFailure(`With these ids the object is not valid:\n${failureLines(result.failures)}`)
  const text = visibleJson(object)
  if (options.out === undefined) return console.log(text)
  writeContent(options.out, text, { fresh: true })
  if (options.json) console.log(visibleJson({ file: options.out }))
  else console.error(`Wrote ${options.out}`)
}
