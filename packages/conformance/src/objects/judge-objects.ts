import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckResult } from '../run/check.ts'
import { isObject, parseObject } from '../wire/wire.ts'

interface Vector {
  readonly name: string
  readonly isValid: boolean
  readonly ids: readonly string[]
  readonly object: unknown
}

export interface JudgeObjectsOptions {
  /** A program that exits with 0 if the file it is given is a valid object. */
  readonly command: readonly string[]
  /** The folder with `valid` and `invalid`. */
  readonly vectors: string
  readonly onResult?: (result: CheckResult) => void
}

const TIME_LIMIT_MS = 30_000
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
export async function judgeObjects(options: JudgeObjectsOptions): Promise<CheckResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-conformance-'))
  try {
    const results: CheckResult[] = []
    for (const vector of readVectors(options.vectors)) {
      const file = join(folder, vector.name)
      writeFileSync(file, JSON.stringify(vector.object))
      const result = await judge(vector, [...options.command, file])
      results.push(result)
      options.onResult?.(result)
    }
    return results
  } finally {
    rmSync(folder, { recursive: true })
  }
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

async function judge(
  { name, isValid, ids, object }: Vector,
  command: readonly string[],
): Promise<CheckResult> {
  const started = performance.now()
  const [program = '', ...words] = command
  const code = await new Promise<number>((resolve, reject) => {
    execFile(program, words, { timeout: TIME_LIMIT_MS }, (error) => {
      if (!error) resolve(0)
      else if (typeof error.code === 'number') resolve(error.code)
      else reject(new Error(`${program} could not be started: ${error.message}`))
    })
  })
  const isRight = (code === 0) === isValid
  return {
    name: `objects/${isValid ? 'valid' : 'invalid'}/${name}`,
    ids: [...new Set(ids)],
    title: isValid ? `${name} is accepted` : `${name} is refused`,
    verdict: isRight ? 'pass' : 'fail',
    ...(!isRight && {
      reason: `${isValid ? 'a valid' : 'an invalid'} ${String(isObject(object) && object['object_type'])} ended with exit code ${code}`,
    }),
    milliseconds: Math.round(performance.now() - started),
    openPoints: [],
    observed: [],
  }
}
