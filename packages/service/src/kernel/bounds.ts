import type { DeploymentProfile, Failure } from '@agent-exchange/protocol'
import { Problem } from './problem.ts'

/** RFC 6901 pointers, each with what stands there. */
type Placed<Value> = readonly (readonly [pointer: string, value: Value])[]

interface Bounded {
  readonly identifiers?: Placed<string | undefined>
  readonly texts?: Placed<string>
  readonly lists?: Placed<number>
}

/** O-14: names, texts and lists have an end, and hold nothing that the database cannot keep. */
export function assertBounds(profile: DeploymentProfile, { identifiers, texts, lists }: Bounded): void {
  const { identifier_characters, text_characters, list_items } = profile['O-14']
  const failures: Failure[] = [
    ...(identifiers ?? []).flatMap(([pointer, text]) => textFailures(pointer, text, identifier_characters)),
    ...(texts ?? []).flatMap(([pointer, text]) => textFailures(pointer, text, text_characters)),
    ...(lists ?? []).flatMap(([pointer, length]) =>
      length > list_items ? [failure(pointer, `List at most ${list_items} entries.`)] : [],
    ),
  ]
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
}

/** PostgreSQL keeps any text but the null character. */
export function isStorable(text: string): boolean {
  return !text.includes('\0')
}

function textFailures(pointer: string, text: string | undefined, maximum: number): Failure[] {
  if (text === undefined) return []
  if (text.length > maximum) return [failure(pointer, `Use at most ${maximum} characters.`)]
  return isStorable(text) ? [] : [failure(pointer, 'Leave out the null character.')]
}

function failure(pointer: string, message: string): Failure {
  return { pointer, rule: 'O-14', message }
}
