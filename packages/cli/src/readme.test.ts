import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../../..')
const START_MS = 60_000
const STEP_MS = 250

/** The shell blocks of the README, but for the two commands that install. */
function shellBlocks(): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
  return blocks.filter((block) => !block.includes('npm ci'))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test(
  'every command of the README works as it is written, one after the other',
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aex-readme-'))
    const [port, operatorPort] = [await freePort(), await freePort()]
    const env = {
      ...process.env,
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
      AEX_DATA_DIR: join(folder, 'data'),
      AEX_PORT: String(port),
      AEX_OPERATOR_PORT: String(operatorPort),
      AEX_OPERATOR_URL: `http://127.0.0.1:${operatorPort}`,
      AEX_URL: `http://127.0.0.1:${port}`,
    }
    const service = spawn('aex', ['serve'], { env, cwd: folder, stdio: 'ignore' })
    try {
      await ready(`http://127.0.0.1:${operatorPort}/readyz`)
      // Ports and folder differ from the README's; everything else is as it stands there.
      const script = shellBlocks()
        .join('')
        .replaceAll('npx ', '')
        .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${port}`)
      assert.match(script, /aex org create.*aex agent init.*aex client create.*aex agent register.*curl/s)
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
        env,
        cwd: folder,
      })
      const agent = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)) as {
        agent_id: string
        status: string
      }
      assert.deepEqual([agent.agent_id, agent.status], ['agent_planner', 'active'])
    } finally {
      service.kill('SIGTERM')
      await once(service, 'exit')
      rmSync(folder, { recursive: true, force: true })
    }
    assert.equal(service.exitCode, 0)
  },
)

async function ready(url: string): Promise<void> {
  for (let waited = 0; waited < START_MS; waited += STEP_MS) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (isReady) return
    await wait(STEP_MS)
  }
  throw new Error('the service did not become ready')
}
