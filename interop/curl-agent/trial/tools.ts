import { spawnSync } from 'node:child_process'

/** The Python of Debian sees packages of Debian even if another `python3` is first on the PATH. */
const INTERPRETERS = ['python3', '/usr/bin/python3']

/** Finds the tools of the shell agent: the path of its Python, or the missing tool. */
export function findTools(): { readonly python: string } | { readonly missing: string } {
  const tools = { bash: '--version', curl: '--version', openssl: 'version' }
  for (const [tool, argument] of Object.entries(tools)) if (!works(tool, argument)) return { missing: tool }
  const python = INTERPRETERS.find((name) => works(name, '-c', 'import jwcrypto'))
  return python === undefined ? { missing: 'Python with jwcrypto' } : { python }
}

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}
