import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePorts, startWorld } from '@agent-exchange/testkit'
import { aexRunning } from './aex-here.fixture.ts'
import { madeAgent, packageBetween } from './commands/agent/agents.fixture.ts'
import { residentAex } from './resident-aex.fixture.ts'
import { blocksOf, COMMANDS, scriptOf } from './running-exchange.fixture.ts'

const run = promisify(execFile)
const skip = spawnSync('bash', ['-c', 'command -v openssl']).status === 0 ? false : 'there is no openssl here'

// The programs of the page are run by packages/sdk/src/documentation.trial.test.ts.
test(
  '[EVT-14] docs/receiving-webhooks.md: the agent folder, the certificates and the receiver on one machine work as written',
  { skip, timeout: 180_000 },
  async () => {
    using cleanup = new DisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'aex-page-'))
    cleanup.defer(() => rmSync(folder, { recursive: true }))
    const [agent = '', certificates = '', start = '', listen = '', adopt = '', ...others] = blocksOf(
      'docs/receiving-webhooks.md',
      'sh',
    )
    assert.deepEqual(others, [])
    const shell = (script: string, env: NodeJS.ProcessEnv = process.env) =>
      run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env })
    await shell(certificates)

    // What the page starts by `npm start`, with the same two settings.
    assert.equal(start, 'AEX_WEBHOOK_CA=ca.pem AEX_WEBHOOK_ALLOW_PRIVATE=true npm start\n')
    const ca = readFileSync(join(folder, 'ca.pem'), 'utf8')
    await using world = await startWorld({ config: { role: 'all', webhook: { ca, allowPrivate: true } } })
    await using aex = await residentAex()
    const operator = await world.operate('POST', '/operators', { name: 'page', role: 'administrator' })
    await shell(scriptOf([agent, adopt], world), {
      ...process.env,
      FORCE_COLOR: undefined,
      PATH: `${aex.commands}:${COMMANDS}:${process.env['PATH']}`,
      AEX_OPERATOR_URL: world.operatorUrl,
      AEX_OPERATOR_TOKEN: String(operator.body['token']),
    })

    const sender = await madeAgent(world, 'sender', join(folder, 'sender'))
    const [port] = await freePorts(1)
    const words = listen.trim().replaceAll('8443', String(port)).split(' ').slice(2)
    const from = process.cwd()
    process.chdir(folder)
    cleanup.defer(() => process.chdir(from))
    await using listening = aexRunning(...words)
    await listening.until(/Listening for webhooks/)
    const { packageId } = await packageBetween(sender, join(folder, 'aex-agent'))
    await listening.until(new RegExp(packageId))
    await listening.until(/^Webhooks arrive\.$/m)
  },
)
