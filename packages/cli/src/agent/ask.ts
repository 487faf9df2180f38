import { createInterface } from 'node:readline/promises'

/** Asks the person at the terminal. Without a terminal the answer is no. */
export async function ask(
  explanation: string,
  question: string,
  agrees: (answer: string) => boolean,
): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false
  console.error(explanation)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return agrees((await lines.question(question)).trim().toLowerCase())
  } finally {
    lines.close()
  }
}
