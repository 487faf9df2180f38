import { CommandFailure } from './failure.ts'
import { program } from './program.ts'

try {
  await (await program(process.argv.slice(2))).parseAsync()
} catch (error) {
  if (!(error instanceof CommandFailure)) throw error
  console.error(error.message)
  process.exitCode = 1
}
