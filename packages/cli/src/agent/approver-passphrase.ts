import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CommandFailure } from '../failure.ts'
import { secretFromFile } from '../secret-file.ts'

/**
 * The approver passphrase: typed at the terminal without echo, or from a file. There is no environment variable for
 * it: processes pass their environment on to others.
 */
export async function approverPassphrase(
  file: string | undefined,
  what: string,
  { twice = false } = {},
): Promise<string> {
  if (file !== undefined) return secretFromFile(what, file)
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandFailure(`The ${what} is typed at a terminal. For a script, name a file with it.`)
  const typed = await askUnseen(`${capitalized(what)}: `)
  if (twice && typed !== (await askUnseen(`${capitalized(what)}, again: `)))
    throw new CommandFailure('The two passphrases differ.')
  return typed
}

/** Readline echoes what is typed to its output, so the output drops everything. */
async function askUnseen(question: string): Promise<string> {
  process.stderr.write(question)
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('close', () => reject(new CommandFailure('No passphrase was typed.')))
    })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
