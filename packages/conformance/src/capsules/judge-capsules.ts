import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckResult } from '../run/check.ts'
import { type LineProcess, startLineProcess } from '../run/line-process.ts'
import { observeLine } from '../wire/observed.ts'
import { isObject, parseObject } from '../wire/wire.ts'
import { editedCapsule, type Edit } from './edited-capsule.ts'

export interface JudgeCapsulesOptions {
  /** A program that reads `{"capsule":…,"policy":…}` a line and answers each with `{"word":…}`. */
  readonly command: readonly string[]
  /** The folder with `chain-capsule.json`, `capsule.json` and `capsules`. */
  readonly vectors: string
}

/** A capsule with the words that a right verifier may answer. */
interface Case {
  readonly name: string
  readonly description: string
  readonly capsule: unknown
  readonly policy: string | null
  readonly words: readonly string[]
}

const FILES = ['capsule', 'chain-capsule']
/** Every policy of the vectors asks for witnesses; without them a capsule is consistent only. */
const PROVEN = 'witnessed'
/** A false capsule is refused. Whether a verifier calls it contradictory or unreadable is up to it. */
const REFUSED = ['broken', 'unreadable']

/** Judges a verifier by the committed capsules, true and false ones. */
export async function judgeCapsules({ command, vectors }: JudgeCapsulesOptions): Promise<CheckResult[]> {
  await using verifier = startLineProcess(command)
  const results: CheckResult[] = []
  for (const file of FILES)
    for (const each of casesOf(vectors, file)) results.push(await judge(file, each, verifier))
  return results
}

function* casesOf(folder: string, file: string): Generator<Case> {
  const read = (name: string) => parseObject(readFileSync(join(folder, name), 'utf8'))
  const { vectors } = read(`${file}.json`)
  for (const vector of Array.isArray(vectors) ? vectors.filter(isObject) : []) {
    const input = vector['input'] as { capsule: string; set: Edit[]; policy: string | null }
    const level = isObject(vector['output']) ? String(vector['output']['level']) : ''
    yield {
      name: String(vector['name']),
      description: String(vector['description']),
      capsule: editedCapsule(read(input.capsule), input.set),
      policy: input.policy,
      words: vector['expect'] === 'invalid' ? REFUSED : [level === PROVEN ? 'proven' : 'consistent'],
    }
  }
}

async function judge(file: string, each: Case, verifier: LineProcess): Promise<CheckResult> {
  const { name, description, capsule, policy, words } = each
  const started = performance.now()
  const answer = await verifier.ask({ capsule, policy })
  const { word } = answer
  const isRight = words.includes(String(word))
  return {
    name: `capsules/${file}/${name}`,
    ids: ['AUD-03'],
    title: description,
    verdict: isRight ? 'pass' : 'fail',
    ...(!isRight && {
      reason: `the verdict on ${name} is ${JSON.stringify(word) ?? 'missing'} instead of ${words.join(' or ')}`,
    }),
    milliseconds: Math.round(performance.now() - started),
    openPoints: [],
    observed: isRight ? [] : [observeLine({ capsule, policy }, answer)],
  }
}
