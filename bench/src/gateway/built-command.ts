import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const BUILD_LIMIT_MS = 600_000

/** Compiles the packages, as they are published, and returns the command `aex` that runs without the sources. */
export async function buildCommand(): Promise<string> {
  const args = ['node_modules/typescript/bin/tsc', '-b', 'packages/cli']
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, timeout: BUILD_LIMIT_MS })
  return `${ROOT}packages/cli/dist/main.js`
}
