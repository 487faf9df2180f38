import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startWorld, until } from '@agent-exchange/testkit'
import { startAgent } from '../agents.fixture.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { sendPackage } from '../send/send-package.ts'
import { folderAgent } from './folder-agents.fixture.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const world = cleanup.use(await startWorld())
const HANDLER = new URL('./one-folder-handler.fixture.ts', import.meta.url).pathname

async function handlerProcess(folder: string, log: string, ...options: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-C', 'source', HANDLER, folder, log, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanup.defer(() => void child.kill('SIGKILL'))
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

test('[EVT-14] two processes on one folder call the handler once for a package, and one that is killed is replaced', async () => {
  const sender = await startAgent(world, 'sender')
  await using recipient = await folderAgent(world, 'shared')
  const { path } = recipient
  const log = join(path, '..', 'calls.log')
  const calls = () =>
    readFileSync(log, { encoding: 'utf8', flag: 'a+' })
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ') as [pid: string, packageId: string])
  const outbox = createMemoryOutbox()
  const send = async () =>
    (await sendPackage(sender, inputFor(sender, recipient.context), { outbox })).packageId

  const [first, second] = await Promise.all([handlerProcess(path, log), handlerProcess(path, log)])
  const sent = [await send(), await send(), await send()]
  await until('all of them', () => calls().length >= sent.length, { limitMs: 60_000 })
  await ended(second, 'SIGTERM')
  await ended(first, 'SIGTERM')
  assert.deepEqual(
    calls().map(([, packageId]) => packageId),
    sent,
  )

  const hanging = await handlerProcess(path, log, 'hang')
  const held = await send()
  await until('the call that hangs', () => calls().length === sent.length + 1, { limitMs: 60_000 })
  const standby = await handlerProcess(path, log)
  await ended(hanging, 'SIGKILL')
  await until('the standby', () => calls().length === sent.length + 2, { limitMs: 60_000 })
  assert.deepEqual(calls().slice(-2), [
    [String(hanging.pid), held],
    [String(standby.pid), held],
  ])
  await ended(standby, 'SIGTERM')
})
