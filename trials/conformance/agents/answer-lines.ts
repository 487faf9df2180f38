import { createInterface } from 'node:readline'

export type Values = Readonly<Record<string, string>>
/** What a driver does for each command; a command that it lacks is unsupported. */
export type Commands = Readonly<Record<string, (values: Values) => Promise<object>>>

/** The line protocol of docs/conformance.md: each line of standard input is answered before the next is read. */
export async function answerLines(commands: Commands): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { command = '', ...values } = JSON.parse(line) as Values
    const run = commands[command]
    const answer = run ? await run(values).catch(failed) : { unsupported: true }
    console.log(JSON.stringify(answer))
  }
}

function failed(error: unknown): object {
  return { error: error instanceof Error ? error.message : String(error) }
}
