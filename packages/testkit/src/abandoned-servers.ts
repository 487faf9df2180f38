import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { commandOf } from './process-list.ts'

/** A test run that was killed leaves its server and the server's files behind, which are in memory. */
export function removeAbandonedServers(parent: string, prefix: string): void {
  const names = readdirSync(parent).filter((name) => name.startsWith(prefix))
  for (const folder of names.map((name) => join(parent, name))) {
    const owner = firstNumber(join(folder, 'lock'))
    if (owner === undefined || commandOf(owner) !== '') continue
    const server = firstNumber(join(folder, 'postgres/cluster/postmaster.pid'))
    if (server !== undefined && commandOf(server).includes(folder)) process.kill(server, 'SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}

/** Undefined where the file is missing or belongs to somebody else. */
function firstNumber(file: string): number | undefined {
  try {
    const number = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return number > 0 ? number : undefined
  } catch {
    return undefined
  }
}
