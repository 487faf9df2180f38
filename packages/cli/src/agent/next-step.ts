import { aexCommand, shellQuoted } from '../next-step.ts'
import type { AgentOptions } from './agent-options.ts'
import { DEFAULT_DIR } from './client-variables.ts'

/** Options of the current command that a printed next command repeats. */
export type Place = Partial<Pick<AgentOptions, 'dir' | 'url' | 'client' | 'passphraseFile' | 'ca'>>

/** An agent command to paste: same folder, exchange and client. */
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

/** The same for a command that needs the folder only. */
export function folderStep({ dir }: Place, ...words: readonly string[]): string {
  return nextStep(dir === undefined ? {} : { dir }, ...words)
}
