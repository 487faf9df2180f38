/**
 * `npm test`: every test file but the trials. `npm test -- WORD...`: those whose path contains one of the words.
 * `--trials`: the trials instead. Other options go to `node --test`, which runs, limits and reports the processes.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findTestFiles, type TestFiles } from './test-files.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Tests spend much of their time waiting for PostgreSQL and for sockets. */
const PROCESSES = availableParallelism() + 1
/** A process that hangs is ended by node, and fails. */
const PROCESS_LIMIT_MS = 900_000

const args = process.argv.slice(2)
const words = args.filter((arg) => !arg.startsWith('-'))
const options = args.filter((arg) => arg.startsWith('-') && arg !== '--trials')
const isTrials = args.includes('--trials')
const found = findTestFiles(ROOT, words, isTrials)

if (found.alone.length + found.shared.length === 0) {
  console.error(`No test file has ${words.join(' or ')} in its path.`)
  process.exitCode = 2
} else process.exitCode = await run(found)

async function run({ alone, shared }: TestFiles): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-tests-'))
  try {
    const files = [...writeEntries(folder, shared), ...alone]
    const child = spawn(process.execPath, [...nodeOptions(), ...files], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled') },
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Node's runner takes files, so each shared process is one that runs others. */
function writeEntries(folder: string, files: readonly string[]): string[] {
  const claims = join(folder, 'claims')
  mkdirSync(claims)
  const module = JSON.stringify(join(import.meta.dirname, 'shared-process.ts'))
  const text = `import { runTestFiles } from ${module}
await runTestFiles(${JSON.stringify(files)}, ${JSON.stringify(claims)})
`
  return Array.from({ length: Math.min(PROCESSES, files.length) }, (_, index) => {
    const entry = join(folder, `process-${index + 1}.mjs`)
    writeFileSync(entry, text)
    return entry
  })
}

function nodeOptions(): string[] {
  return [
    '-C',
    'source',
    '--test',
    `--test-concurrency=${PROCESSES}`,
    `--test-timeout=${PROCESS_LIMIT_MS}`,
    '--test-global-setup=./packages/testkit/src/global-setup.ts',
    '--test-reporter=./tools/test-reporter/test-reporter.ts',
    // Worlds come and go: with more room for young objects, collecting them needs less CPU. Trials measure memory.
    ...(isTrials ? [] : ['--max-semi-space-size=64']),
    ...options,
  ]
}
