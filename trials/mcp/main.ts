/** `npm run test:mcp`: the MCP server against official tools, real processes, injections and forged approvals. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { Skipped } from '../shared/report.ts'
import { installTools, TOOLS_VARIABLE } from './installed-tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-test-mcp-'))
try {
  const own = [
    ...['documentation', 'injection', 'transports'].map((name) => `trials/mcp/${name}-trial.ts`),
    'packages/mcp/src/approval-forgery.trial.test.ts',
  ]
  const installing = installTools(folder).then(
    () => undefined,
    (error: unknown) => (error instanceof Skipped ? error.message : Promise.reject(error as Error)),
  )
  // Awaited below; this avoids an unhandled rejection.
  installing.catch(() => undefined)
  let isPassed = await runs(own.toSorted())
  const missing = await installing
  if (missing === undefined)
    isPassed = (await runs(['trials/mcp/inspector-trial.ts', 'trials/mcp/conformance-trial.ts'])) && isPassed
  else console.log(`skipped: ${missing}`)
  process.exitCode = isPassed ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** One file at a time: each starts a database and processes of its own. */
async function runs(files: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ['-C', 'source', '--test', '--test-concurrency=1', ...files], {
    cwd: ROOT,
    env: { ...process.env, [TOOLS_VARIABLE]: folder },
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}
