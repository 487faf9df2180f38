import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { UsageError } from '../command-line.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const GIT_LIMIT_MS = 60_000
const INSTALL_LIMIT_MS = 600_000
/** Variables of `npm run` for this workspace must not reach npm in another worktree. */
const OWN_NPM_VARIABLES = /^(?:INIT_CWD|npm_(?!config_).*|npm_config_(?:local_prefix|prefix|workspaces?))$/iu

/** A revision of this repository, installed in a temporary worktree. */
export interface Revision {
  /** The name given by the user. */
  readonly ref: string
  readonly commit: string
  /** Its command `aex`. */
  readonly program: string
}

const run = promisify(execFile)

const git = async (...args: string[]) =>
  (await run('git', args, { cwd: REPOSITORY, timeout: GIT_LIMIT_MS })).stdout.trim()

/** Resolves a name to a commit. */
export async function resolveRevision(ref: string): Promise<string> {
  // git would parse it as an option.
  if (ref.startsWith('-')) throw new UsageError(`${ref} is not the name of a revision.`)
  try {
    return await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)
  } catch {
    throw new UsageError(`--against ${ref}: git knows no such revision here.`)
  }
}

/** The current commit, with a mark if the working tree has changes. */
export function describeWorkingTree(): Promise<string> {
  return git('describe', '--always', '--dirty', '--exclude=*')
}

/** Checks out a commit in a folder and installs it. The stack removes the worktree, even after a partial installation. */
export async function checkOut(
  ref: string,
  commit: string,
  folder: string,
  cleanup: AsyncDisposableStack,
): Promise<Revision> {
  const path = join(folder, 'revision')
  const stop = new AbortController()
  let isOver: Promise<unknown> = Promise.resolve()
  cleanup.defer(async () => {
    stop.abort()
    await isOver.catch(() => undefined)
    await removeWorktree(path)
  })
  const install = async () => {
    await git('worktree', 'add', '--detach', path, commit)
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !OWN_NPM_VARIABLES.test(name)),
    )
    const options = { cwd: path, env, timeout: INSTALL_LIMIT_MS, signal: stop.signal }
    await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], options)
  }
  isOver = install()
  await isOver
  return { ref, commit, program: join(path, 'packages/cli/bin/aex.js') }
}

async function removeWorktree(path: string): Promise<void> {
  await git('worktree', 'remove', '--force', path).catch(() => undefined)
  // If git did not know the worktree yet, or refused.
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  await git('worktree', 'prune')
}
