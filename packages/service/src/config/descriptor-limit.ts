import { readFileSync } from 'node:fs'

/** How many files and sockets this process may have open (ulimit -n); undefined where the system does not say. */
export function descriptorLimit(limits = '/proc/self/limits'): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/mu.exec(readFileSync(limits, 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}
