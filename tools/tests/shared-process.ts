import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

/** Beyond this a file fails and the next one starts. */
const FILE_LIMIT_MS = 300_000
const HANDLE_LIMIT_MS = 5_000

/**
 * Runs test files one after the other in this process, which loads their modules once. Each file is a suite, so that
 * its hooks are its own. Several processes share a list: who makes the folder of a file in `claims` runs it.
 */
export async function runTestFiles(
  files: readonly string[],
  claims: string,
  handleLimitMs = HANDLE_LIMIT_MS,
): Promise<void> {
  for (const [index, file] of files.entries()) {
    if (!isClaimed(join(claims, String(index)))) continue
    const restore = rememberSurroundings()
    await suite(file, { timeout: FILE_LIMIT_MS }, async () => {
      await import(pathToFileURL(file).href)
    })
    restore()
  }
  endDespiteHandles(handleLimitMs)
}

function isClaimed(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** A file may change variables and the working folder; the next one finds them unchanged. */
function rememberSurroundings(): () => void {
  const variables = { ...process.env }
  const folder = process.cwd()
  return () => {
    process.chdir(folder)
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
    Object.assign(process.env, variables)
  }
}

/** A handle that a test file left open fails this process instead of hanging it. */
function endDespiteHandles(limitMs: number): void {
  const limit = setTimeout(() => {
    console.error(`A test file left a handle open: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, limitMs)
  // Fires only where something else keeps the process alive.
  limit.unref()
}
