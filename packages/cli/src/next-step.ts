import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const SOURCES = import.meta.dirname
const BIN = resolve(SOURCES, '../bin/aex.js')
const CHECKOUT = resolve(SOURCES, '../../..')

interface Circumstances {
  readonly env?: NodeJS.ProcessEnv
  readonly folder?: string
  readonly isCheckout?: boolean
}

/**
 * How this `aex` is called, so that a printed next step works when it is pasted. npx sets npm_command. In a checkout
 * nothing puts `aex` on the PATH: npx finds it inside, and elsewhere its path is needed.
 */
export function aexCommand({
  env = process.env,
  folder = process.cwd(),
  isCheckout = existsSync(join(SOURCES, 'main.ts')),
}: Circumstances = {}): string {
  if (env['npm_command'] !== undefined) return 'npx aex'
  if (!isCheckout) return 'aex'
  const isInside = !relative(CHECKOUT, folder).startsWith('..')
  return isInside ? 'npx aex' : `node ${shellQuoted(BIN)}`
}

/** A command to paste. */
export function aexStep(...words: readonly string[]): string {
  return [aexCommand(), ...words.map(shellQuoted)].join(' ')
}

/** For a POSIX shell: as it is where nothing in it is special, otherwise in single quotes. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
