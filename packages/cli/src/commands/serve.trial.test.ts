import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { commandOf, listProcesses } from '@agent-exchange/testkit/process-list'
import { aexAt } from '../aex-here.fixture.ts'
import { runAex } from '../aex-process.fixture.ts'
import { serveProcess } from '../serve-process.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-serve-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

const backup = join(folder, 'backup')
const [port, operatorPort] = await freePorts(2)
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

const serve = (settings: Record<string, string> = {}) => serveProcess({ ...env, ...settings })

const token = (data: string) => readFileSync(join(data, 'operator-token'), 'utf8')

/** The embedded server, by its own pid file. */
function databaseProcess(): number {
  const file = join(env.AEX_DATA_DIR, 'postgres', 'cluster', 'postmaster.pid')
  return Number(readFileSync(file, 'utf8').split('\n')[0])
}

test('aex serve says where things are, is backed up, runs until SIGTERM and leaves nothing running', async () => {
  await using service = await serve()
  const database = databaseProcess()
  assert.match(commandOf(database), /postgres/u)
  assert.equal(await answers(`http://127.0.0.1:${operatorPort}/readyz`), 200)
  assert.equal(await answers(`http://127.0.0.1:${port}/openapi.json`), 200)

  const second = await runAex(['serve'], { env: { ...env, AEX_PORT: '1', AEX_OPERATOR_PORT: '2' } })
  assert.equal(second.code, 1)
  assert.match(second.stderr, new RegExp(`is in use by process ${service.pid}\\.`, 'u'))

  const made = await aexAt({ env }, 'backup', '--json', '--with-keys', backup)
  assert.equal(made.code, 0, made.stderr)
  assert.equal(JSON.parse(made.stdout).with_keys, true)
  const early = await aexAt({ env }, 'restore', '--force', backup)
  assert.match(early.stderr, /is in use by process/u)

  assert.equal(await service.stop(), 0)
  assert.equal(commandOf(database), '')
  const { log, said } = service.output
  for (const line of log.trim().split('\n')) assert.equal(typeof JSON.parse(line), 'object')
  const announced = said
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  const running = announced.find(({ msg }) => msg === 'Agent Exchange is running.')
  assert.equal(running?.['agent_api'], `http://127.0.0.1:${port}`)
  assert.equal(running['operator_token_file'], join(env.AEX_DATA_DIR, 'operator-token'))
  assert.equal(announced.at(-1)?.['msg'], 'Stopped')
})

test('aex restore brings a backup of the running service back, with its keys, and SIGINT ends it as well', async () => {
  const elsewhere = { ...env, AEX_DATA_DIR: join(folder, 'other') }
  const restored = await aexAt({ env: elsewhere }, 'restore', '--json', backup)
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal(JSON.parse(restored.stdout).master_key, 'matches')
  assert.equal(token(elsewhere.AEX_DATA_DIR), token(env.AEX_DATA_DIR))
  await using revived = await serve(elsewhere)
  assert.equal(await answers(`http://127.0.0.1:${operatorPort}/readyz`), 200, revived.output.said)
  assert.equal(await revived.stop('SIGINT'), 0)
})

test('aex backup verify proves a backup, and says what it could not prove', async () => {
  const verified = await aexAt({ env }, 'backup', 'verify', '--json', backup)
  const { verdict, checks } = JSON.parse(verified.stdout) as {
    verdict: string
    checks: { name: string; result: string }[]
  }
  assert.ok(
    checks.every(({ result }) => result !== 'failed'),
    verified.stdout,
  )
  assert.equal(checks.find(({ name }) => name === 'platform keys')?.result, 'proved')
  assert.equal(verified.code, verdict === 'restorable' ? 0 : 3)
  const nothing = await aexAt({ env }, 'backup', 'verify', folder)
  assert.equal(nothing.code, 2)
  assert.match(nothing.stderr, /not a complete backup/u)
})

test('aex master-key rotate --generate replaces the key file while the service runs', async () => {
  const file = join(env.AEX_DATA_DIR, 'master-key')
  const former = readFileSync(file, 'utf8')
  const operator = { ...env, AEX_OPERATOR_URL: `http://127.0.0.1:${operatorPort}` }
  const status = async () =>
    JSON.parse((await aexAt({ env: operator }, 'master-key', 'status', '--json')).stdout) as {
      master_key_id: string
    }
  let needed = ''
  {
    await using service = await serve()
    const rotated = await runAex(['master-key', 'rotate', '--generate', '--json'], { env: operator })
    assert.equal(rotated.code, 0, rotated.stderr)
    needed = String(JSON.parse(rotated.stdout).master_key_id)
    assert.equal((await status()).master_key_id, needed)
    const next = readFileSync(file, 'utf8')
    assert.equal(next.trim().split('\n').length, 1)
    assert.notEqual(next, former)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.ok(!service.output.log.includes(next.trim()))
  }
  {
    await using service = await serve()
    assert.equal((await status()).master_key_id, needed, service.output.said)
  }
  const refused = await runAex(['serve'], { env: { ...env, AEX_MASTER_KEY: former.trim() } })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, new RegExp(`needs the master key with fingerprint ${needed}`, 'u'))
})

/** Two processes, once both have started. */
async function workersOf(service: { readonly pid: number | undefined }): Promise<number[]> {
  const look = () =>
    listProcesses()
      .filter(({ parent, command }) => parent === service.pid && command.includes('worker-main'))
      .map(({ pid }) => pid)
  for (let tries = 0; tries < 400 && look().length !== 2; tries++) await sleep(50)
  assert.equal(look().length, 2)
  return look()
}

/** On a connection of its own, so that workers take turns. */
async function fresh(url: string): Promise<string> {
  const request = get(url, { agent: false, signal: AbortSignal.timeout(20_000) })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 200)
  return text(response)
}

/** What `/metrics` says of all workers, and of who did not answer. */
async function scrape() {
  const lines = (await fresh(`http://127.0.0.1:${operatorPort}/metrics`)).split('\n')
  const valueOf = (start: string) =>
    Number(
      lines
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1),
    )
  return {
    asked: valueOf('aex_http_request_seconds_count{method="GET",route="/openapi.json",status="200"}'),
    ready: lines.filter((line) => /^aex_ready\{worker="[12]"\} 1$/u.test(line)).length,
    unanswered: valueOf('aex_workers_unanswered'),
  }
}

/** A busy machine may let a worker answer late, or start late; what was counted never gets less. */
async function scrapeUntil(expected: Awaited<ReturnType<typeof scrape>>): Promise<void> {
  let seen = await scrape()
  for (let tries = 0; tries < 400 && !isDeepStrictEqual(seen, expected); tries++) {
    await sleep(50)
    const { asked } = seen
    seen = await scrape()
    assert.ok(seen.asked >= asked, `${seen.asked} after ${asked}`)
  }
  assert.deepEqual(seen, expected)
}

test('AEX_WORKERS: processes share the ports, one that is killed is replaced, /metrics counts for all', async () => {
  await using service = await serve({ AEX_WORKERS: '2' })
  const openapi = `http://127.0.0.1:${port}/openapi.json`
  const [one = 0, two = 0] = await workersOf(service)
  for (let i = 0; i < 10; i++) await fresh(openapi)
  // Whoever is asked.
  for (let i = 0; i < 4; i++) await scrapeUntil({ asked: 10, ready: 2, unanswered: 0 })

  process.kill(one, 'SIGSTOP')
  try {
    // One connection may be given to the stopped worker, and waits with it; the next one is not.
    const seen = await Promise.any([scrape(), scrape()])
    assert.deepEqual(seen, { asked: 10, ready: 1, unanswered: 1 })
  } finally {
    process.kill(one, 'SIGCONT')
  }
  await scrapeUntil({ asked: 10, ready: 2, unanswered: 0 })

  process.kill(two, 'SIGKILL')
  // Until the first process knows, it gives connections to the dead.
  for (let tries = 0; !service.output.said.includes(`Worker ${two} ended (SIGKILL)`); tries++) {
    assert.ok(tries < 400, service.output.said)
    await sleep(50)
  }
  await scrapeUntil({ asked: 10, ready: 2, unanswered: 0 })
  assert.equal((await workersOf(service)).includes(two), false)
  await fresh(openapi)
  await scrapeUntil({ asked: 11, ready: 2, unanswered: 0 })
  assert.equal(await service.stop(), 0)
})

test('a failed start is a sentence that names the setting, with level fatal, exit code 1 and no stack', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port: busy } = taken.address() as AddressInfo
  const cases: [settings: Record<string, string>, says: RegExp][] = [
    [{ AEX_HOST: '0.0.0.0', AEX_ROLE: 'boss' }, /AEX_ROLE: Use one of[^]*AEX_HOST: Listening beyond/u],
    [{ AEX_PORT: String(busy) }, /Port \d+ on 127\.0\.0\.1 is taken by another program.*AEX_PORT/u],
    [{ AEX_OPERATOR_PORT: String(busy) }, /is taken by another program.*AEX_OPERATOR_PORT/u],
    [
      { AEX_PORT: String(busy), AEX_PUBLIC_ULR: 'http://x' },
      /AEX_PUBLIC_ULR is not a variable of aex and has no effect\. Did you mean AEX_PUBLIC_URL\?/u,
    ],
    [{ AEX_DATA_DIR: join(process.execPath, 'data') }, /data folder cannot be made: .*AEX_DATA_DIR/u],
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
    // The levels of pino: what ends the process is fatal.
    assert.match(stderr.trimEnd().split('\n').at(-1) ?? '', /^\{"level":60,/u)
  }
  taken.close()
})
