/**
 * `npm run test:packed`: packs the packages and installs them in an empty project by `npm run pack`, without the service, with
 * the gateway, then with the service, and runs the quickstart; the conformance kit in a project of its own.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { GATEWAY, SERVICE, TARBALLS, type OptionalPackage } from '../../packages/cli/src/optional-packages.ts'
import { blocksOf, runningExchange, scriptOf } from '../../packages/cli/src/running-exchange.fixture.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { checkWithoutService } from './without-service.ts'
import { timedLines } from '../shared/timed-lines.ts'

const QUICKSTART = 'docs/quickstart.md'
const KIT = ['conformance', 'crypto', 'log', 'protocol', 'web']

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'aex-packed-'))
const say = timedLines()
const tarballsOf = (name: OptionalPackage) =>
  TARBALLS[name].flatMap((each) => globSync(`agent-exchange-${each}-[0-9]*.tgz`, { cwd: folder }))

try {
  const project = mkdtempSync(join(folder, 'project-'))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const { stdout } = await run('npm', ['run', 'pack', '--', '--to', folder, '--into', project], { cwd: ROOT })
  assert.match(stdout, /^\d+ packages in .+\ninstalled in .+: SDK and aex$/mu)
  say('packed and installed by npm run pack; no package holds test code')
  // The Node that runs this, and no other command of the checkout.
  const commands = `${join(project, 'node_modules/.bin')}:${dirname(process.execPath)}`
  const { NODE_OPTIONS: _, ...own } = process.env
  const env = { ...own, FORCE_COLOR: undefined, PATH: `${commands}:${process.env['PATH']}` }

  await checkWithoutService(project, env)
  say('without the service: no PostgreSQL, and the commands of an agent work')
  await judge(env)
  say('the conformance kit alone: it judges the validator and the verifier that were installed')
  await install(project, tarballsOf(GATEWAY))
  const { stdout: help } = await run('aex', ['gateway', 'system', '--help'], { cwd: project, env })
  assert.match(help, /Programs of the company/u)
  say('with the gateway: its commands work without the service')
  await install(project, tarballsOf(SERVICE))
  await quickstart(project, commands)
  say('with the service: the quickstart runs from installed packages')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function install(project: string, tarballs: readonly string[]): Promise<void> {
  const files = tarballs.map((name) => join(folder, name))
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...files], { cwd: project })
}

/** The kit in a project of its own judges programs of another one. */
async function judge(env: NodeJS.ProcessEnv): Promise<void> {
  const project = mkdtempSync(join(folder, 'kit-'))
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  await install(
    project,
    KIT.flatMap((each) => globSync(`agent-exchange-${each}-[0-9]*.tgz`, { cwd: folder })),
  )
  const kit = join(project, 'node_modules/.bin/aex-conformance')
  for (const [subject, command] of [
    ['objects', 'validate'],
    ['capsules', 'verify'],
  ] as const) {
    const { stdout } = await run(kit, [subject, '--', 'aex', command, '--lines'], { cwd: project, env })
    assert.match(stdout, /\b0 failed\b|passed/u)
  }
}

async function quickstart(project: string, commands: string): Promise<void> {
  await using exchange = await runningExchange(commands)
  const { AEX_URL: _, ...env } = exchange.env
  const folders = { env, cwd: mkdtempSync(join(project, 'quickstart-')) }
  const { stdout } = await run(
    'bash',
    ['-euo', 'pipefail', '-c', scriptOf(blocksOf(QUICKSTART, 'sh'), exchange)],
    folders,
  )
  assert.equal(stdout.match(/^Consistent, but not proven: /gmu)?.length, 2)
  writeFileSync(join(folders.cwd, 'first.ts'), blocksOf(QUICKSTART, 'ts').join(''))
  const typed = await run('node', ['first.ts'], folders)
  assert.equal(typed.stdout, 'Agreed: Confirm delivery in week 13.\n')
}
