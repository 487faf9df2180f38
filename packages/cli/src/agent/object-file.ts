import { validateObject, type Failure, type ObjectType, type ProtocolObject } from '@agent-exchange/protocol'
import { CommandFailure } from '../failure.ts'
import { readJson } from '../read-json.ts'
import { visible } from '../visible.ts'

/** Reads and validates a protocol object before anything is sent. */
export async function objectFrom<Type extends ObjectType>(
  file: string,
  types: readonly Type[],
): Promise<Extract<ProtocolObject, { readonly object_type: Type }>> {
  const read = await readJson(file)
  if (!read.ok) throw new CommandFailure(`${file} ${read.reason}`)
  const result = validateObject(read.value)
  if (!result.valid) throw new CommandFailure(`${file} is not valid:\n${failureLines(result.failures)}`)
  const { object } = result
  if ((types as readonly string[]).includes(object.object_type)) {
    return object as Extract<ProtocolObject, { readonly object_type: Type }>
  }
  throw new CommandFailure(`${file} is a ${object.object_type}; give a ${types.join(' or a ')}.`)
}

/** One line for each failure. */
export function failureLines(failures: readonly Failure[]): string {
  return failures.map(failureLine).join('\n')
}

export function failureLine({ pointer, rule, message }: Failure): string {
  return `  ${pointer === '' ? '(the whole)' : visible(pointer)}  ${message}  ${rule}`
}
