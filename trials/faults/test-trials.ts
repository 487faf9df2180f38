import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ROOT } from '../../tools/repository/repository-files.ts'
import type { Trial } from './trial.ts'

const LIMIT_MS = 1_800_000

export const testTrials: Trial = {
  name: 'test-trials',
  what: 'the test files *.trial.test.ts pass: `aex serve` and its signals, backups, pages of the documentation',
  async run() {
    const child = spawn(process.execPath, ['tools/tests/run-tests.ts', '--trials'], {
      cwd: ROOT,
      stdio: 'inherit',
      timeout: LIMIT_MS,
    })
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    if (code !== 0) throw new Error(`test files failed: ${signal ?? `exit ${code}`}`)
  },
}
