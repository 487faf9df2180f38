import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runAex } from '../aex-process.ts'

const AEX = fileURLToPath(new URL('../../bin/aex.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'aex-serve-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

const [port, operatorPort] = [await freePort(), await freePort()]
const env = {
  AEX_DATA_DIR: join(folder, 'data'),
  AEX_PORT: String(port),
  AEX_OPERATOR_PORT: String(operatorPort),
  AEX_HOST: '127.0.0.1',
  DATABASE_URL: '',
  AEX_WORKERS: '1',
}
const answers = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  )

/** Runs the service; a test that fails takes it along. */
async function serve(settings: Record<string, string> = {}) {
  const child = spawn(process.execPath, [AEX, 'serve'], { env: { ...process.env, ...env, ...settings } })
  const ended = once(child, 'close')
  const output = { log: '', said: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output.log += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (output.said += part))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await ended
    return child.exitCode
  }
  for (let tries = 0; !output.said.includes('is running'); tries++) {
    if (tries > 400 || child.exitCode !== null) {
      await stop('SIGKILL')
      throw new Error(`not ready: ${output.said}`)
    }
    await sleep(50)
  }
  return { pid: child.pid, output, stop, [Symbol.asyncDispose]: () => stop().then(() => undefined) }
}

const token = (data: string) => readFileSync(join(data, 'operator-token'), 'utf8')

/** The embedded server, by its own pid file. */
function databaseProcess(): number {
  const file = join(env.AEX_DATA_DIR, 'postgres', 'cluster', 'postmaster.pid')
  return Number(readFileSync(file, 'utf8').split('\n')[0])
}

test('aex serve says where things are, runs until SIGTERM and leaves nothing running', async () => {
  await using service = await serve()
  const database = databaseProcess()
  assert.equal(await answers(`http://127.0.0.1:${operatorPort}/readyz`), 200)
  assert.equal(await answers(`http://127.0.0.1:${port}/openapi.json`), 200)

  const second = await runAex(['serve'], { env: { ...env, AEX_PORT: '1', AEX_OPERATOR_PORT: '2' } })
  assert.equal(second.code, 1)
  assert.match(second.stderr, new RegExp(`is in use by process ${service.pid}\\.`, 'u'))

  assert.equal(await service.stop(), 0)
  assert.throws(() => process.kill(database, 0), /ESRCH/u)
  const { log, said } = service.output
  for (const line of log.trim().split('\n')) assert.equal(typeof JSON.parse(line), 'object')
  assert.match(said, new RegExp(`agent API +http://127\\.0\\.0\\.1:${port}`, 'u'))
  assert.match(said, /operator token +.*operator-token[^]*aex org create[^]*Stopped/u)
})

test('aex backup works beside the running service, and aex restore brings it back with its keys', async () => {
  await using service = await serve()
  const backup = await runAex(['backup', '--json', '--with-keys', join(folder, 'backup')], { env })
  assert.equal(backup.code, 0, backup.stderr)
  assert.equal(JSON.parse(backup.stdout).with_keys, true)
  const early = await runAex(['restore', '--force', join(folder, 'backup')], { env })
  assert.match(early.stderr, /is in use by process/u)
  assert.equal(await service.stop('SIGINT'), 0)

  const elsewhere = { ...env, AEX_DATA_DIR: join(folder, 'other') }
  const restored = await runAex(['restore', '--json', join(folder, 'backup')], { env: elsewhere })
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal(JSON.parse(restored.stdout).master_key, 'matches')
  assert.equal(token(elsewhere.AEX_DATA_DIR), token(env.AEX_DATA_DIR))
  await using revived = await serve(elsewhere)
  assert.equal(await answers(`http://127.0.0.1:${operatorPort}/readyz`), 200, revived.output.said)
})

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

test('AEX_WORKERS: processes share the port, and one that is killed is replaced', async () => {
  await using service = await serve({ AEX_WORKERS: '2' })
  const workers = () => {
    const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
      .trim()
      .split(' ')
    return children.filter((pid) => commandOf(pid).includes('worker-main'))
  }
  // One look may miss a child that is just being made or collected (proc(5)), so the test waits for a good one.
  const twoBut = async (victim?: string) => {
    for (let tries = 0; tries < 400; tries++) {
      const found = workers()
      if (found.length === 2 && !found.includes(victim ?? '')) return found
      await sleep(50)
    }
    return assert.fail(`workers: ${workers().join(' ')}`)
  }
  const [victim = ''] = await twoBut()
  process.kill(Number(victim), 'SIGKILL')
  await twoBut(victim)
  assert.equal(await answers(`http://127.0.0.1:${port}/openapi.json`), 200)
  assert.equal(await service.stop(), 0)
  assert.match(service.output.said, new RegExp(`Worker ${victim} ended \\(SIGKILL\\)`, 'u'))
})

test('a failed start is a sentence that names the setting, with exit code 1 and no stack', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port: busy } = taken.address() as AddressInfo
  const cases: [settings: Record<string, string>, says: RegExp][] = [
    [{ AEX_HOST: '0.0.0.0', AEX_ROLE: 'boss' }, /AEX_ROLE: Use one of[^]*AEX_HOST: Listening beyond/u],
    [{ AEX_PORT: String(busy) }, /EADDRINUSE.*AEX_PORT/u],
    [
      { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d', AEX_MASTER_KEY: '00'.repeat(32) },
      /database of DATABASE_URL cannot be used: .*ECONNREFUSED/u,
    ],
  ]
  for (const [settings, says] of cases) {
    const { code, stderr } = await runAex(['serve'], { env: { ...env, ...settings } })
    assert.equal(code, 1, stderr)
    assert.match(stderr, says)
    assert.doesNotMatch(stderr, /^\s+at /mu)
  }
  taken.close()
})

test('aex config lists every setting, hides secrets and fails where one is wrong', async () => {
  const settings = {
    AEX_MASTER_KEY: 'ab'.repeat(32),
    DATABASE_URL: 'postgres://u:sesame@h/d',
    AEX_WORKERS: '3',
  }
  const { code, stdout } = await runAex(['config'], { env: settings })
  assert.equal(code, 0)
  assert.match(stdout, /AEX_WORKERS = 3 \(default: 1\)\n {4}API processes/u)
  assert.doesNotMatch(stdout, /sesame|abab/u)
  const wrong = await runAex(['config', '--json'], { env: { AEX_WORKERS: 'many' } })
  assert.equal(wrong.code, 1)
  const row = JSON.parse(wrong.stdout).find(({ name }: { name: string }) => name === 'AEX_WORKERS')
  assert.match(row.wrong[0], /from 1 to/u)
})
