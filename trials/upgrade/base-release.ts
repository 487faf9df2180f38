import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkOut } from '../../bench/src/against/revision.ts'
import { run } from '../shared/programs.ts'
import { Skipped } from '../shared/report.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'

const TAG = 'upgrade-base'
/** Names the commit for clones that have no tags. */
const BASE_FILE = join(ROOT, 'trials/upgrade/base')
const GIT_LIMIT_MS = 60_000

/** Installs the release that the trial upgrades from. Returns its command `aex`. */
export async function installBase(folder: string, cleanup: AsyncDisposableStack): Promise<string> {
  const commit = (await resolve(TAG)) ?? (await resolve(readFileSync(BASE_FILE, 'utf8').trim()))
  if (commit === undefined)
    throw new Skipped(`git has no tag ${TAG} and lacks the commit of trials/upgrade/base`)
  return (await checkOut(TAG, commit, folder, cleanup)).program
}

async function resolve(name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', `${name}^{commit}`]
  const { code, output } = await run('git', args, { cwd: ROOT, limitMs: GIT_LIMIT_MS })
  return code === 0 ? output.trim() : undefined
}
