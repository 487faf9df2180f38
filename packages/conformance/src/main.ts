import { runCommand } from './command-line.ts'

process.exitCode = await runCommand(process.argv.slice(2), {
  log: (line) => console.log(line),
  error: (line) => console.error(line),
  colors: process.stdout.isTTY,
})
