import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FOUND_BY_MONITORS } from './cheated-monitors.fixture.ts'
import { FOUND_BY_STRANGERS } from './cheated-strangers.fixture.ts'
import { FOUND_BY_VIEWS } from './cheated-views.fixture.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const page = read('docs/cheating-operator.md')
const [alone = '', together = ''] = page.split('\n## ')

/** The rows of the table in a part of the page, without its head. */
const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

test('[AUD-03] the page has every way to cheat that the trial plays, and no other', () => {
  const played = [...FOUND_BY_STRANGERS, ...FOUND_BY_MONITORS, ...FOUND_BY_VIEWS].map(
    ({ operator, noticedBy, codes, when }) => [
      operator,
      noticedBy,
      codes.map((code) => `\`${code}\``).join(', '),
      when,
    ],
  )
  assert.deepEqual(
    rowsOf(alone).map((cells) => cells.slice(0, 4)),
    played,
  )
  const trial = read('packages/sdk/src/monitor/cheating-operator.trial.test.ts')
  assert.ok(trial.includes('an operator who ${operator} is found by ${noticedBy}'))
})

test('[AUD-03] every vector and every test that the page names exists in the file that it names', () => {
  const { vectors } = JSON.parse(read('interop/vectors/chain-capsule.json')) as {
    vectors: { name: string }[]
  }
  const names = new Set(vectors.map(({ name }) => `\`${name}\``))
  for (const [operator = '', , , , vector = ''] of rowsOf(alone))
    assert.ok(vector === '' || names.has(vector), `${operator}: ${vector}`)
  const collusion = read('packages/sdk/src/monitor/collusion.trial.test.ts')
  const titles = [...collusion.matchAll(/^test\('\[AUD-03\] (.+)', async/gmu)].map(
    ([, title]) => `\`${title}\``,
  )
  assert.deepEqual(
    rowsOf(together).map(([, title]) => title),
    titles,
  )
})
