import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { startAgent } from '../agents.fixture.ts'
import { inputFor, SECRET_WORDS } from '../send/drafts.fixture.ts'
import { openPackage } from '../open/open-package.ts'
import { resumeOutbox } from '../send/resume-outbox.ts'
import { openFileKeyStore } from './file-key-store.ts'
import type { SenderOrders } from './sqlite-outbox-sender.fixture.ts'
import { openSqliteOutbox } from './sqlite-outbox.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const folder = mkdtempSync(join(tmpdir(), 'aex-outbox-kill-'))
after(() => rmSync(folder, { recursive: true }))
const keysFile = join(folder, 'keys.json')
const acme = await startAgent(world, 'acme', { keys: openFileKeyStore(keysFile) })
const bolt = await startAgent(world, 'bolt')
const SENDER = new URL('./sqlite-outbox-sender.fixture.ts', import.meta.url).pathname

/** Runs a sender that kills itself with -9 around one of its requests. */
async function killedSender(orders: SenderOrders): Promise<void> {
  const file = join(folder, 'orders.json')
  writeFileSync(file, JSON.stringify(orders))
  const child = spawn(process.execPath, ['-C', 'source', SENDER, file], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
}

for (const path of ['/v1/policy-receipts', '/v1/packages']) {
  for (const when of ['before', 'after'] as const) {
    test(`[API-04] a sender killed with -9 ${when} ${path} leaves one package once its outbox is resumed`, async () => {
      const input = inputFor(acme, bolt)
      const outboxFile = join(folder, `${input.object.id}.db`)
      const { baseUrl } = acme.options
      await killedSender({
        baseUrl,
        clientId: acme.clientId,
        identity: acme.identity,
        keysFile,
        outboxFile,
        input,
        dieAt: { path, when },
      })
      for (const file of [outboxFile, `${outboxFile}-wal`])
        assert.ok(!readFileSync(file).includes(SECRET_WORDS))
      using outbox = openSqliteOutbox(outboxFile)
      const { packages } = await resumeOutbox(acme, { outbox })
      assert.deepEqual(packages, [{ packageId: input.object.id, outcome: 'accepted' }])
      const [row] = await world.sql`select
        (select count(*)::int from package where package_id = ${input.object.id}) as packages,
        (select count(*)::int from policy_receipt where package_id = ${input.object.id}) as receipts`
      assert.deepEqual({ ...row }, { packages: 1, receipts: 1 })
      assert.equal((await openPackage(bolt, input.object.id)).object.id, input.object.id)
    })
  }
}
