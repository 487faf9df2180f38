import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  CHECK_SENTENCES,
  FAULT_SENTENCES,
  KEY_SENTENCES,
  parsePolicy,
  renderCapsuleText,
  verifyCapsule,
  CLAIM_SENTENCES,
  type CapsuleResult,
} from '@agent-exchange/log'
import { changedAt } from './profiles/capsule.ts'
import { VECTORS } from './vector-file.ts'

interface CapsuleVector {
  readonly input: {
    readonly capsule: string
    readonly set: readonly (readonly [string, unknown])[]
    readonly policy: string | null
  }
}

const read = (name: string) => JSON.parse(readFileSync(join(VECTORS, name), 'utf8')) as unknown
/** Some of them: proven, consistent, broken and unreadable capsules of formats 2 and 3. */
const vectors = ['capsule.json', 'chain-capsule.json']
  .flatMap((name) => (read(name) as { vectors: CapsuleVector[] }).vectors)
  .filter((_, at) => at % 7 === 0)

function verdicts(): Promise<CapsuleResult[]> {
  return Promise.all(
    vectors.map(({ input: { capsule, set, policy } }) => {
      const value = set.reduce(
        (before, [pointer, change]) => changedAt(before, pointer, change),
        read(capsule),
      )
      return verifyCapsule(value, policy === null ? {} : { policy: parsePolicy(policy), require: 'unpinned' })
    }),
  )
}

test('[AUD-03] whatever the sentences say, every verdict stays', async () => {
  const before = await verdicts()
  assert.deepEqual(
    new Set(before.map(({ word }) => word)),
    new Set(['proven', 'consistent', 'broken', 'unreadable']),
  )
  const shown = before.map((result) => renderCapsuleText(result))
  const tables = [CHECK_SENTENCES, FAULT_SENTENCES, KEY_SENTENCES, CLAIM_SENTENCES] as Record<
    string,
    unknown
  >[]
  const kept = structuredClone(tables)
  try {
    for (const table of tables)
      for (const [code, sentence] of Object.entries(table))
        table[code] = typeof sentence === 'string' ? 'x' : { holds: 'x', fails: 'x', unproved: 'x' }
    const after = await verdicts()
    assert.deepEqual(after, before)
    for (const [at, result] of after.entries()) assert.notEqual(renderCapsuleText(result), shown[at])
  } finally {
    for (const [at, table] of tables.entries()) Object.assign(table, kept[at])
  }
})

test('no module that verifies reads a sentence', () => {
  const source = join(import.meta.dirname, '../packages/log/src')
  for (const folder of ['capsule', 'evidence', 'verdict', 'leaf', 'merkle', 'notes'])
    for (const name of readdirSync(join(source, folder)).filter((each) => !each.endsWith('.test.ts')))
      assert.doesNotMatch(readFileSync(join(source, folder, name), 'utf8'), /from '\.\.?\/render\//u, name)
})
