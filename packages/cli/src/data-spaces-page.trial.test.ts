import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePorts, startWorld } from '@agent-exchange/testkit'
import { residentAex } from './resident-aex.fixture.ts'
import { blocksOf, COMMANDS, ROOT, scriptOf } from './running-exchange.fixture.ts'

const run = promisify(execFile)
const PAGE = 'docs/data-spaces.md'
const START_MS = 60_000

interface Background extends AsyncDisposable {
  readonly pid: number | undefined
}

/** A command that runs in a terminal of its own, once it has said that it is ready. */
async function inTerminal(script: string, ready: RegExp, options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn('bash', ['-euc', `exec ${script}`], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      said += String(data)
      if (ready.test(said)) resolve()
    })
  void ended.then(() => reject(new Error(`${script} ended:\n${said}`)))
  const limit = setTimeout(() => reject(new Error(`${script} is not ready:\n${said}`)), START_MS)
  const background: Background = {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
    },
  }
  try {
    await promise
    return background
  } catch (error) {
    await background[Symbol.asyncDispose]()
    throw error
  } finally {
    clearTimeout(limit)
  }
}

/** Each port of the page, replaced by one that is free here. */
async function onFreePorts(): Promise<(text: string) => string> {
  const written = ['8085', '8086', '8191', '8192']
  const free = await freePorts(written.length)
  return (text) =>
    written.reduce((changed, port, index) => changed.replaceAll(port, String(free[index])), text)
}

// The other programs of the page are run by packages/edc/src/data-space/data-spaces-page.trial.test.ts.
test(
  '[PKG-05] docs/data-spaces.md: every command works as written, with the simulator in place of connectors',
  { timeout: 240_000 },
  async () => {
    await using world = await startWorld({ config: { role: 'all' } })
    await using aex = await residentAex()
    await using cleanup = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'aex-data-spaces-'))
    cleanup.defer(() => rmSync(folder, { recursive: true }))
    const operator = await world.operate('POST', '/operators', { name: 'page', role: 'administrator' })
    const moved = await onFreePorts()
    const own = { ...process.env, FORCE_COLOR: undefined, PATH: `${COMMANDS}:${process.env['PATH']}` }
    const env = {
      ...own,
      PATH: `${aex.commands}:${own.PATH}`,
      AEX_OPERATOR_URL: world.operatorUrl,
      AEX_OPERATOR_TOKEN: String(operator.body['token']),
    }
    const shell = async (script: string) => {
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env, cwd: folder })
      return stdout
    }
    const terminal = async (script: string, ready: RegExp) =>
      cleanup.use(await inTerminal(script, ready, { cwd: folder, env: own }))

    const quickstart = blocksOf('docs/quickstart.md', 'sh')
    const joining = quickstart.findIndex((block) => block.includes('agent join'))
    assert.ok(joining > 0)
    await shell(scriptOf(quickstart.slice(0, joining + 1), world))

    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'simulator.ts'), moved(blocksOf(PAGE, 'ts')[0] ?? ''))
    await terminal('node -C source simulator.ts', /Two connectors are ready/)

    const blocks = blocksOf(PAGE, 'sh').map((block) => moved(scriptOf([block], world)))
    const isServer = (block: string) => block.startsWith('aex agent data-address')
    const first = blocks.findIndex(isServer)
    const before = await shell(blocks.slice(0, first).join(''))
    assert.match(before, /✔ counterparty[^]*✔ dry run[^]*The connector can carry packages/)
    assert.equal(blocks.filter(isServer).length, 2)
    for (const block of blocks.filter(isServer)) await terminal(block, /Serving the data address at/)

    const said = await shell(
      blocks
        .slice(first)
        .filter((block) => !isServer(block))
        .join(''),
    )
    assert.equal(said.match(/Everything is as it should be/g)?.length, 2)
    assert.match(said, /^thread_\S+ {2}ds_x$/m)
    assert.match(said, /is revoked\n {2}nobody can fetch it any more/)
    assert.equal(said.match(/The connector can carry packages/g)?.length, 2)
  },
)
