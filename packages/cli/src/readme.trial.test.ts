import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf, COMMANDS, runningExchange, scriptOf } from './running-exchange.fixture.ts'

test(
  'every command of the README works as it is written, one after the other',
  { timeout: 120_000 },
  async () => {
    await using exchange = await runningExchange()
    const { env, folder } = exchange
    const script = scriptOf(blocksOf('README.md', 'sh'), exchange)
    assert.match(script, /aex org create.*aex invite create.*aex agent join.*curl/s)
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      env,
      cwd: folder,
    })
    const agent = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)) as {
      agent_id: string
      status: string
    }
    assert.deepEqual([agent.agent_id, agent.status], ['agent_planner', 'active'])
    assert.equal(await exchange.stop(), 0)
  },
)

test('packages/cli/README.md: the example works without any service', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'aex-readme-'))
  try {
    const [example = '', ...others] = blocksOf('packages/cli/README.md', 'sh')
    assert.equal(others.length, 0)
    const script = scriptOf([example], { url: '' })
    const env = { ...process.env, FORCE_COLOR: undefined, PATH: `${COMMANDS}:${process.env['PATH']}` }
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { env, cwd })
    assert.match(stdout, /policy\.json/)
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
