/** `npm run test:packed`: packs the packages, installs them in an empty project and runs the quickstart. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { blocksOf, runningExchange, scriptOf } from '../../packages/cli/src/running-exchange.fixture.ts'
import { ROOT } from '../repository/repository-files.ts'

/** Those that a user installs; each brings the ones before it. */
const PACKAGES = ['protocol', 'crypto', 'web', 'sdk', 'service', 'cli']
const QUICKSTART = 'docs/quickstart.md'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'aex-packed-'))
const started = performance.now()
const say = (what: string) =>
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${what}`)

try {
  const project = await installed(await packed())
  await quickstart(project)
  say('the quickstart runs from installed packages')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The tarballs that `npm publish` would upload. */
async function packed(): Promise<string[]> {
  const workspaces = PACKAGES.flatMap((name) => ['--workspace', `packages/${name}`])
  await run('npm', ['pack', ...workspaces, '--pack-destination', folder], { cwd: ROOT })
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  assert.equal(tarballs.length, PACKAGES.length)
  for (const tarball of tarballs) {
    const { stdout } = await run('tar', ['-tzf', join(folder, tarball)])
    const strays = stdout
      .split('\n')
      .filter((path) => /\.(?:test|fixture)\.|\/src\/|\.tsbuildinfo$/u.test(path))
    assert.deepEqual(strays, [], `${tarball} holds what only a checkout needs`)
  }
  say(`packed ${tarballs.length} packages`)
  return tarballs.map((name) => join(folder, name))
}

/** An empty project with the packages in it, and with nothing of this checkout. */
async function installed(tarballs: readonly string[]): Promise<string> {
  const project = mkdtempSync(join(folder, 'project-'))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs], { cwd: project })
  say('installed them in an empty project')
  return project
}

async function quickstart(project: string): Promise<void> {
  // The user's own Node is the one that runs this; the checkout's other commands stay out of the path.
  const commands = `${join(project, 'node_modules/.bin')}:${dirname(process.execPath)}`
  await using exchange = await runningExchange(commands)
  const { AEX_URL: _, ...env } = exchange.env
  const options = { env, cwd: project }
  const { stdout } = await run(
    'bash',
    ['-euo', 'pipefail', '-c', scriptOf(blocksOf(QUICKSTART, 'sh'), exchange)],
    options,
  )
  assert.equal(stdout.match(/The evidence holds/g)?.length, 2)
  writeFileSync(join(project, 'first.ts'), blocksOf(QUICKSTART, 'ts').join(''))
  const typed = await run('node', ['first.ts'], options)
  assert.equal(typed.stdout, 'Rails are short in week 12.\n')
}
