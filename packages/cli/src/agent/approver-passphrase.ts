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
  const question = capitalized(what)
  const [typed = '', again] = await askUnseen(
    twice ? [`${question}: `, `${question}, again: `] : [`${question}: `],
  )
  if (twice && typed !== again) throw new CommandFailure('The two passphrases differ.')
  return typed
}

/** Readline echoes what is typed to its output, so the output drops everything. */
async function askUnseen(questions: readonly string[]): Promise<string[]> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Before the first question: until then the terminal itself echoes what is typed.
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  const typed = lines[Symbol.asyncIterator]()
  try {
    const answers: string[] = []
    for (const question of questions) {
      process.stderr.write(question)
      const line = await typed.next()
      process.stderr.write('\n')
      if (line.done) throw new CommandFailure('No passphrase was typed.')
      answers.push(line.value)
    }
    return answers
  } finally {
    lines.close()
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
