/** `npm run trial`: longer tests of the real processes. `npm run test:NAME` is `npm run trial -- NAME --`. */

import { runCommand } from './command.ts'
import { TRIALS } from './trial-list.ts'

process.exitCode = await runCommand(
  process.argv.slice(2),
  { trials: TRIALS, folder: import.meta.dirname },
  console,
)
