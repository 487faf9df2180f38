import { CommandFailure } from './failure.ts'
import { program } from './program.ts'

try {
  await program().parseAsync()
} catch (error) {
  if (!(error instanceof CommandFailure)) throw error
  console.error(error.message)
  process.exitCode = 1
}
