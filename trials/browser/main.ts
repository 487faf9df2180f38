/** `npm run test:browser`: the pages in a real browser. Each package and the demo keep their own in `browser/*.browser.ts`. */

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findChromium } from '@agent-exchange/testkit/browser'
import { ROOT } from '../../tools/repository/repository-files.ts'

const HELP = `Runs the browser tests with the chromium of this machine; exits 1 if one fails.

  npm run test:browser                         all of them
  npm run test:browser -- web                  those of packages/web
  npm run test:browser -- trials               the day of a planner, with a real Keycloak
  npm run test:browser -- --screenshots DIR    where pictures go; default node_modules/.cache/screenshots`

const FILE_TIMEOUT_MS = 600_000

const args = process.argv.slice(2)
const at = args.indexOf('--screenshots')
const [, folder] = at < 0 ? [] : args.splice(at, 2)
const names = args.length > 0 ? args : ['*']
if (names.some((name) => name.startsWith('-'))) {
  console.log(HELP)
  process.exitCode = names.every((name) => /^(?:-h|--help)$/u.test(name)) ? 0 : 2
} else run()

function run(): void {
  const found = findChromium()
  if ('why' in found) {
    console.log(`skipped: ${found.why}`)
    return
  }
  const screenshots = resolve(folder ?? join(ROOT, 'node_modules/.cache/screenshots'))
  const files = globSync(
    names.flatMap((name) => [`packages/${name}/browser/*.browser.ts`, `${name}/browser/*.browser.ts`]),
    { cwd: ROOT },
  ).toSorted()
  if (files.length === 0) {
    console.error(`Nothing named ${names.join(' or ')} has browser tests.`)
    process.exitCode = 2
    return
  }
  const options = ['-C', 'source', '--test', '--test-concurrency=2', `--test-timeout=${FILE_TIMEOUT_MS}`]
  const { status } = spawnSync(process.execPath, [...options, ...files], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, AEX_SCREENSHOTS: screenshots },
  })
  console.log(`Screenshots are in ${screenshots}`)
  process.exitCode = status ?? 1
}
