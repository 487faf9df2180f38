import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckResult } from '../run/check.ts'
import { type LineProcess, startLineProcess } from '../run/line-process.ts'
import { observeLine } from '../wire/observed.ts'
import { isObject, parseObject } from '../wire/wire.ts'

interface Vector {
  readonly name: string
  readonly isValid: boolean
  readonly ids: readonly string[]
  readonly object: Readonly<Record<string, unknown>>
}

export interface JudgeObjectsOptions {
  /** A program that reads one object a line and answers each with `{"valid":true}` or `{"valid":false}`. */
  readonly command: readonly string[]
  /** The folder with `valid` and `invalid`. */
  readonly vectors: string
}

/** Requirements that every valid object shows, each by being accepted. */
const OF_TYPE: Readonly<Record<string, string>> = {
  reasoning_package: 'OBJ-05',
  response_object: 'OBJ-06',
  policy_envelope: 'OBJ-07',
  loop_thread: 'OBJ-08',
  network_story: 'OBJ-09',
  audit_event: 'OBJ-10',
}

/** Judges a validator by the committed objects: true ones must pass, and each false one must not. */
export async function judgeObjects({ command, vectors }: JudgeObjectsOptions): Promise<CheckResult[]> {
  await using validator = startLineProcess(command)
  const results: CheckResult[] = []
  for (const vector of readVectors(vectors)) results.push(await judge(vector, validator))
  return results
}

function readVectors(folder: string): Vector[] {
  const read = (kind: string) =>
    readdirSync(join(folder, kind))
      .toSorted()
      .map((name) => ({ name, content: parseObject(readFileSync(join(folder, kind, name), 'utf8')) }))
  return [
    ...read('valid').map(({ name, content }) => ({
      name,
      isValid: true,
      ids: ['OBJ-03', OF_TYPE[String(content['object_type'])] ?? 'OBJ-03'],
      object: content,
    })),
    ...read('invalid').map(({ name, content }) => ({
      name,
      isValid: false,
      ids: [String(content['rule'])],
      object: isObject(content['object']) ? content['object'] : {},
    })),
  ]
}

async function judge({ name, isValid, ids, object }: Vector, validator: LineProcess): Promise<CheckResult> {
  const started = performance.now()
  const answered = await validator.ask(object)
  const { valid: answer } = answered
  const isRight = answer === isValid
  return {
    name: `objects/${isValid ? 'valid' : 'invalid'}/${name}`,
    ids: [...new Set(ids)],
    title: isValid ? `${name} is accepted` : `${name} is refused`,
    verdict: isRight ? 'pass' : 'fail',
    ...(!isRight && {
      reason: `${isValid ? 'a valid' : 'an invalid'} ${String(object['object_type'])} got valid: ${JSON.stringify(answer) ?? 'no answer'}`,
    }),
    milliseconds: Math.round(performance.now() - started),
    openPoints: [],
    observed: isRight ? [] : [observeLine(object, answered)],
  }
}
