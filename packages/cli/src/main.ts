import { CommandFailure, failureExitCode } from './failure.ts'
import { program } from './program.ts'

const args = process.argv.slice(2)
const code = failureExitCode(args)
const DEFECT = 1

// A defect shows its stack, except where exit code 1 is a result: also a closed pipe must not look like one.
if (code !== DEFECT)
  process.on('uncaughtException', ({ message }) => {
    console.error(`The command ended unexpectedly: ${message}`)
    process.exit(process.exitCode === undefined || process.exitCode === 0 ? code : undefined)
  })

try {
  await (await program(args)).parseAsync()
} catch (error) {
  if (!(error instanceof CommandFailure)) throw error
  console.error(error.message)
  process.exitCode = code
}
