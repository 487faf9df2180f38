import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { MAXIMUM_HOSTS_FILE_BYTES } from './webhook-limits.ts'

const HOSTS_FILE = '/etc/hosts'

/** Names of the hosts file, which precede DNS as in the system's own resolver. Read again when the file has changed. */
export function createHostsFile(path = HOSTS_FILE): (hostname: string) => Promise<readonly string[]> {
  let known = { version: '', names: new Map<string, string[]>() }
  return async (hostname) => {
    try {
      const { mtimeMs, size, ino } = await stat(path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version !== known.version) {
        const text = size > MAXIMUM_HOSTS_FILE_BYTES ? '' : await readFile(path, 'utf8')
        known = { version, names: parseHosts(text) }
      }
      return known.names.get(hostname.toLowerCase()) ?? []
    } catch {
      return []
    }
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/u)
    if (isIP(address) === 0) continue
    for (const alias of aliases) {
      const name = alias.toLowerCase()
      names.set(name, [...(names.get(name) ?? []), address])
    }
  }
  return names
}
