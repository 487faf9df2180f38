/** `npm run requirements`: lists the tests of each requirement, and requirements without a test. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { reportFindings } from '../repository/findings.ts'
import { isTest, readFiles, ROOT } from '../repository/repository-files.ts'
import type { Coverage, Covered } from './requirement-coverage.ts'
import { countByArea, coverage, findNamedTests, parseRequirements } from './requirement-coverage.ts'

const HELP = `Lists every requirement of docs/requirements.md with the tests whose names contain its id.

  npm run requirements                  all ids with their tests, then the unproved ids and the counts
  npm run requirements -- --unproved    only ids without a test
  npm run requirements -- --json        one JSON document
  npm run requirements -- --check       fails if a test names an unknown id

A test names what it proves in brackets: test('[PKG-02][ERR-02] a third recipient is refused', ...)`

const { values: options } = parseArgs({
  options: {
    unproved: { type: 'boolean' },
    json: { type: 'boolean' },
    check: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
})

if (options.help) console.log(HELP)
else {
  const requirements = parseRequirements(readFileSync(join(ROOT, 'docs/requirements.md'), 'utf8'))
  const result = coverage(requirements, readFiles(isTest).flatMap(findNamedTests))
  if (options.check) check(result)
  else if (options.json) console.log(JSON.stringify(asDocument(result), null, 2))
  else if (options.unproved) console.log(result.requirements.filter(isUnproved).map(idLine).join('\n'))
  else console.log(asText(result))
}

function check({ requirements, unknown }: Coverage): void {
  const findings = unknown.map(({ id, nearest, test }) => ({
    path: test.path,
    line: test.line,
    message: `${id} is not in docs/requirements.md; did you mean ${nearest}?`,
  }))
  reportFindings(findings, `every id that a test names exists (${totals(requirements)})`)
}

function asText({ requirements }: Coverage): string {
  const proved = requirements.filter((requirement) => !isUnproved(requirement)).map(withTests)
  const gaps = requirements.filter(isUnproved).map(idLine)
  const counts = countByArea(requirements).map(
    ({ area, proved: n, all }) => `${area.padEnd(6)}${String(n).padStart(4)} of ${all}`,
  )
  const sections = [
    ['Proved', ...proved],
    ['No test yet', ...gaps],
    ['Count', ...counts, totals(requirements)],
  ]
  return sections
    .filter((lines) => lines.length > 1)
    .map(([title, ...lines]) => [`${title}\n`, ...lines].join('\n'))
    .join('\n\n')
}

function asDocument({ requirements, unknown }: Coverage) {
  return { requirements, unknown, areas: countByArea(requirements), total: total(requirements) }
}

function total(requirements: readonly Covered[]) {
  return { proved: requirements.filter((one) => !isUnproved(one)).length, all: requirements.length }
}

function totals(requirements: readonly Covered[]): string {
  const { proved, all } = total(requirements)
  return `${proved} of ${all} requirements have a test`
}

function isUnproved({ tests }: Covered): boolean {
  return tests.length === 0
}

function withTests(requirement: Covered): string {
  const tests = requirement.tests.map(({ path, line, name }) => `    ${path}:${line}  ${name}`)
  return [idLine(requirement), ...tests].join('\n')
}

function idLine({ id, meaning }: Covered): string {
  return `${id.padEnd(8)}${meaning}`
}
