import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { readConfig } from '@agent-exchange/service/config'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { aexAt } from '../aex-here.fixture.ts'
import { ROOT } from '../running-exchange.fixture.ts'
import { serveProcess } from '../serve-process.fixture.ts'
import { serveDirections } from './serve-directions.ts'

const root = mkdtempSync(join(tmpdir(), 'aex-pasted-'))
const folder = join(root, "it's here")
mkdirSync(folder)
for (const each of [root, folder]) chmodSync(each, 0o755)
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

/** `npx aex` finds the commands of the checkout there; agents of the steps go to the temporary folder. */
const PASTED = {
  cwd: ROOT,
  env: { ...process.env, FORCE_COLOR: undefined, AEX_AGENT_DIR: join(folder, 'agent') },
}

/** Lines that are commands, as they were printed. */
function commandsIn(lines: readonly string[]): string[] {
  const commands = lines.filter((line) =>
    /^ {2}(?:export |TOKEN=|INVITATION=|AEX_\w+=|curl |npx aex )/u.test(line),
  )
  assert.equal(
    lines.find((line) => /^ {2}aex /u.test(line)),
    undefined,
    'only npx finds aex in a checkout',
  )
  return commands
}

/** Pasted into one shell, which stops at the first failure. */
async function paste(commands: readonly string[]): Promise<string> {
  const pasted = promisify(execFile)('sh', ['-eu', '-c', commands.join('\n')], PASTED)
  pasted.child.stdin?.end()
  return (await pasted).stdout
}

test('the banner of serve leads to a registered agent: other ports, and a folder with a quote', async () => {
  const [port, operatorPort] = await freePorts(2)
  const env = {
    AEX_DATA_DIR: join(folder, 'data'),
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
  }
  const { lines } = serveDirections(readConfig({ ...env }), {
    urls: { agent: `http://127.0.0.1:${port}`, operator: `http://127.0.0.1:${operatorPort}` },
    operatorTokenFile: join(env.AEX_DATA_DIR, 'operator-token'),
  })
  const backup = join(folder, 'backup')
  {
    await using service = await serveProcess({ ...env, DATABASE_URL: '', AEX_PROFILE: '' })
    const commands = commandsIn(lines)
    assert.equal(commands.length, 7, lines.join('\n'))
    assert.match(await paste(commands), /agent_planner of org_acme has joined/u, service.output.said)
    const made = await aexAt({ env }, 'backup', '--with-keys', backup)
    assert.equal(made.code, 0, made.stderr)
    const [, verify = ''] = /^Verify it: (.+)$/mu.exec(made.stdout) ?? assert.fail(made.stdout)
    await paste([`${verify} || [ $? = 3 ]`])
    assert.equal(await service.stop(), 0)
    const [, restore = ''] = /stopped: (.+)$/mu.exec(made.stdout) ?? assert.fail(made.stdout)
    const restored = await paste([restore])
    const start = /^Start the service with: AEX_DATA_DIR=.* npx aex serve$/mu
    assert.match(restored, start)
  }
})

test('with an outside issuer, whose clients are registered there, serve names no invitation', () => {
  const env = { AEX_ISSUER: 'https://idp.example', AEX_DATA_DIR: folder }
  const urls = { agent: 'http://127.0.0.1:8080', operator: 'http://127.0.0.1:8081' }
  const { lines } = serveDirections(readConfig(env), { urls, operatorTokenFile: '' })
  assert.match(lines.join('\n'), /npx aex agent init --org org_acme --agent agent_planner/u)
  assert.doesNotMatch(lines.join('\n'), /invite create/u)
})

test('every command that npm run demo -- --keep prints works while it runs, from a temporary folder with a space', async () => {
  const TMPDIR = join(root, 'of demo')
  mkdirSync(TMPDIR)
  chmodSync(TMPDIR, 0o755)
  const demo = spawn('npm', ['run', '--silent', 'demo', '--', '--mcp', '--keep'], {
    ...PASTED,
    env: { ...PASTED.env, TMPDIR },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(demo, 'close')
  try {
    let said = ''
    demo.stdout.setEncoding('utf8').on('data', (part: string) => (said += part))
    while (!said.includes('Ctrl-C stops it') && demo.exitCode === null)
      await Promise.race([once(demo.stdout, 'data'), ended])
    const kept = said.slice(said.indexOf('Still running.'))
    const commands = commandsIn(kept.split('\n'))
    assert.equal(commands.length, 9, said)
    const printed = await paste(commands.map((line) => line.replace('curl -sS', 'curl -sS --fail')))
    assert.match(printed, /agent_carmaker_planner/u)
  } finally {
    process.kill(-(demo.pid ?? 0), 'SIGINT')
    await ended
  }
})
