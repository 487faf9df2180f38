import { readFileSync } from 'node:fs'

/** The open files limit of this process (ulimit -n); undefined if the system does not report it. */
export function descriptorLimit(limits = '/proc/self/limits'): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/mu.exec(readFileSync(limits, 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}
