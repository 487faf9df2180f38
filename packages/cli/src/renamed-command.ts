import type { Command } from 'commander'

/** A command under its old name, for one release: it is in no help, and says its new name on standard error. */
export function renamed(command: Command, oldName: string, newCommand: string): Command {
  const oldCommand = newCommand.replace(/\S+$/u, oldName)
  return command.name(oldName).hook('preAction', () => sayRenamed(oldCommand, newCommand))
}

export function sayRenamed(old: string, now: string): void {
  console.error(`${old} is now ${now}; the old name ends with the next release.`)
}
