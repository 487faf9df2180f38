import type { Command } from 'commander'

/** A command under its old name, for one release. No list shows it; it says its new name in its help and on standard error. */
export function renamed(command: Command, oldName: string, newCommand: string): Command {
  const oldCommand = newCommand.replace(/\S+$/u, oldName)
  return command
    .name(oldName)
    .addHelpText('before', `${renaming(oldCommand, newCommand)}\n`)
    .hook('preAction', () => sayRenamed(oldCommand, newCommand))
}

export function sayRenamed(old: string, now: string): void {
  console.error(renaming(old, now))
}

const renaming = (old: string, now: string) =>
  `${old} is now ${now}; the old name ends with the next release.`
