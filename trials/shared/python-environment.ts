import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, mustFetch, mustRun, requireProgram } from './programs.ts'

const INSTALL_MS = 180_000
const COMPLETE = 'complete'

/** Creates a cached virtual environment with these packages and returns its interpreter. */
export async function pythonWith(name: string, packages: readonly string[]): Promise<string> {
  requireProgram('python3', '-c', 'import venv, ensurepip')
  const folder = join(CACHE, name)
  const python = join(folder, 'bin/python')
  if (existsSync(join(folder, COMPLETE))) return python
  // An incomplete environment is recreated.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(CACHE, { recursive: true })
  await mustRun('python3', ['-m', 'venv', folder], { limitMs: INSTALL_MS })
  await mustFetch(packages.join(' '), python, ['-m', 'pip', 'install', '--quiet', ...packages], {
    limitMs: INSTALL_MS,
  })
  writeFileSync(join(folder, COMPLETE), packages.join('\n'))
  return python
}
