import { aexCommand, shellQuoted } from '../next-step.ts'
import type { AgentOptions } from './agent-options.ts'
import { DEFAULT_DIR } from './client-variables.ts'

/** Where the command ran that prints a next step; a pasted one has to run there too. */
export type Place = Partial<Pick<AgentOptions, 'dir' | 'url' | 'client' | 'passphraseFile' | 'ca'>>

/** A command of the agent that can be pasted as it is: same folder, same exchange, same client. */
export function nextStep(place: Place, ...words: readonly string[]): string {
  const { dir = DEFAULT_DIR, url, client, passphraseFile, ca } = place
  const options: readonly [name: string, value: string | undefined][] = [
    ['--dir', dir === DEFAULT_DIR ? undefined : dir],
    ['--url', url],
    ['--client', client],
    ['--passphrase-file', passphraseFile],
    ['--ca', ca],
  ]
  const given = options.filter(([name]) => !words.includes(name))
  const all = [...words, ...given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]))]
  return `${aexCommand()} agent ${all.map(shellQuoted).join(' ')}`
}

/** The same for a command that needs the folder alone. */
export function folderStep({ dir }: Place, ...words: readonly string[]): string {
  return nextStep(dir === undefined ? {} : { dir }, ...words)
}
