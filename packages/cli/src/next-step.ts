/** How this `aex` was called, so that a printed next step works when it is pasted: npx sets npm_command. */
export function aexCommand(env: NodeJS.ProcessEnv = process.env): string {
  return env['npm_command'] === undefined ? 'aex' : 'npx aex'
}

/** A command to paste. */
export function aexStep(...words: readonly string[]): string {
  return [aexCommand(), ...words.map(shellQuoted)].join(' ')
}

/** For a POSIX shell: as it is where nothing in it is special, otherwise in single quotes. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
