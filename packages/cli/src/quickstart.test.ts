import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf, ROOT, runningExchange, scriptOf } from './running-exchange.fixture.ts'

const run = promisify(execFile)

test(
  'the quickstart works as it is written: every command, then the same in TypeScript',
  { timeout: 180_000 },
  async () => {
    await using exchange = await runningExchange()
    const { folder } = exchange
    // The page has the agents in folders of its own, and says where the exchange is.
    const { AEX_URL: _, ...env } = exchange.env
    const script = scriptOf(blocksOf('docs/quickstart.md', 'sh'), exchange)
    assert.match(script, /aex agent send.*aex agent open.*aex agent respond.*aex agent evidence/s)
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env, cwd: folder })
    assert.match(stdout, /Everything is as it should be/)
    assert.equal(stdout.match(/The evidence holds/g)?.length, 2)

    const [program, ...others] = blocksOf('docs/quickstart.md', 'ts')
    assert.deepEqual(others, [])
    writeFileSync(join(folder, 'first.ts'), program ?? '')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const typed = await run('node', ['-C', 'source', 'first.ts'], { env, cwd: folder })
    assert.equal(typed.stdout, 'Rails are short in week 12.\n')
  },
)
