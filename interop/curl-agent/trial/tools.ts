import { spawnSync } from 'node:child_process'

/** The second is Debian's own, which sees Debian's packages where another `python3` comes first. */
const INTERPRETERS = ['python3', '/usr/bin/python3']

/** What the shell agent is made of: where its Python is, or what is missing. */
export function findTools(): { readonly python: string } | { readonly missing: string } {
  const tools = { bash: '--version', curl: '--version', openssl: 'version' }
  for (const [tool, argument] of Object.entries(tools)) if (!works(tool, argument)) return { missing: tool }
  const python = INTERPRETERS.find((name) => works(name, '-c', 'import jwcrypto'))
  return python === undefined ? { missing: 'Python with jwcrypto' } : { python }
}

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}
