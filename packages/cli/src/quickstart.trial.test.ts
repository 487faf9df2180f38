import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startWorld } from '@agent-exchange/testkit'
import { residentAex } from './resident-aex.fixture.ts'
import { blocksOf, COMMANDS, ROOT, scriptOf } from './running-exchange.fixture.ts'

const run = promisify(execFile)

// The README's commands run in processes of their own, and those of this page too by `npm run test:packed`.
test(
  'the quickstart works as it is written: every command, then the same in TypeScript',
  { timeout: 180_000 },
  async () => {
    await using world = await startWorld({ config: { role: 'all' } })
    await using aex = await residentAex()
    using cleanup = new DisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'aex-quickstart-'))
    cleanup.defer(() => rmSync(folder, { recursive: true }))
    const operator = await world.operate('POST', '/operators', { name: 'quickstart', role: 'administrator' })
    // Only the operator is told where the exchange is: the agents learn it from the page.
    const env = {
      ...process.env,
      FORCE_COLOR: undefined,
      PATH: `${aex.commands}:${COMMANDS}:${process.env['PATH']}`,
      AEX_OPERATOR_URL: world.operatorUrl,
      AEX_OPERATOR_TOKEN: String(operator.body['token']),
    }
    const script = scriptOf(blocksOf('docs/quickstart.md', 'sh'), world)
    assert.match(script, /aex agent send.*aex agent open.*aex agent respond.*aex agent evidence/s)
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env, cwd: folder })
    assert.match(stdout, /Everything is as it should be/)
    assert.equal(stdout.match(/The evidence holds/g)?.length, 2)
    assert.match(
      stdout,
      /Signatures prove\s+how\s+far\s+each\s+package\s+got:\s+1\s+opened,\s+1\s+accepted\./,
    )
    assert.doesNotMatch(stdout, /\b0 of \d/, 'what went well does not look like a failure')

    const [program, ...others] = blocksOf('docs/quickstart.md', 'ts')
    assert.deepEqual(others, [])
    writeFileSync(join(folder, 'first.ts'), program ?? '')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const typed = await run('node', ['-C', 'source', 'first.ts'], { env, cwd: folder })
    assert.equal(typed.stdout, 'Agreed: Confirm delivery in week 13.\n')
  },
)
