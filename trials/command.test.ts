import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listFiles, ROOT } from '../tools/repository/repository-files.ts'
import { runCommand } from './command.ts'
import { TRIALS, type Trial } from './trial-list.ts'

/** Runs the command. Returns its exit code and what it printed. */
async function trial(given: readonly string[], catalogue = { trials: TRIALS, folder: import.meta.dirname }) {
  const printed: string[] = []
  const print = (line: string) => void printed.push(line)
  const code = await runCommand(given, catalogue, { log: print, error: print })
  return { code, text: printed.join('\n') }
}

/** Three trials of one line each. */
function scripted(folder: string): { trials: Trial[]; folder: string } {
  const sources = {
    fails: 'process.exitCode = process.argv.includes("--worse") ? 4 : 3',
    skips: "console.log('skipped: no such tool')",
    passes: 'console.log(process.argv.slice(2).join())',
  }
  for (const [name, source] of Object.entries(sources)) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'main.ts'), source)
  }
  const trials = Object.keys(sources).map((name) => ({ name, what: 'for this test', quick: ['--quick'] }))
  return { trials, folder }
}

test('every folder with a main.ts is a trial of the list, and every trial of the list has one', () => {
  const folders = listFiles(join(ROOT, 'trials'), 'trials/').flatMap(
    (path) => /^trials\/([^/]+)\/main\.ts$/u.exec(path)?.[1] ?? [],
  )
  assert.deepEqual(TRIALS.map(({ name }) => name).toSorted(), folders.toSorted())
})

test('npm run test:NAME is an alias of the runner, and .ci/run uses no other', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const aliases = Object.keys(scripts).filter((name) => name.startsWith('test:'))
  for (const alias of aliases)
    assert.ok(
      TRIALS.some(({ name }) => scripts[alias] === `node trials/main.ts ${name} --`),
      alias,
    )
  const used = readFileSync(join(ROOT, '.ci/run'), 'utf8').matchAll(/npm run (test:[\w:]+)/gu)
  for (const [, name = ''] of used) assert.ok(aliases.includes(name), name)
})

test('the command line lists trials, explains itself, and suggests a name for an unknown one', async () => {
  const list = await trial(['--list'])
  assert.equal(list.code, 0)
  for (const { name } of TRIALS) assert.match(list.text, new RegExp(`^${name} `, 'mu'))
  assert.match((await trial(['--help'])).text, /npm run trial -- browser -- web/u)
  assert.equal((await trial([])).code, 2)
  assert.deepEqual(await trial(['failovr']), {
    code: 2,
    text: 'There is no trial failovr; did you mean failover? --list names them all.',
  })
  assert.equal((await trial(['faults', 'log', '--', '--quick'])).code, 2)
})

test('trials run one after the other, a failed or skipped one does not stop the next', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-trials-test-'))
  try {
    const catalogue = scripted(folder)
    const { code, text } = await trial(['passes', 'fails', 'skips', '--quick'], catalogue)
    assert.equal(code, 1)
    assert.match(
      text,
      /^✖ fails .* failed with exit code 3\n– skips .* skipped: no such tool\n✔ passes .* passed$/mu,
    )
    assert.match(text, /^--quick$/mu)
    // Alone, a trial takes options, and its exit code is that of the command.
    assert.equal((await trial(['fails', '--', '--worse'], catalogue)).code, 4)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
