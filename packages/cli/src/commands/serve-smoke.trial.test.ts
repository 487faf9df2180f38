import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { serveProcess } from '../serve-process.fixture.ts'

// Signals, backups, several processes and failed starts are trials: serve.trial.test.ts and its neighbours.
test('aex serve starts with an empty folder, answers on both ports, and ends by SIGTERM', async () => {
  using cleanup = new DisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'aex-smoke-'))
  chmodSync(folder, 0o755)
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  const [port, operatorPort] = await freePorts(2)
  await using service = await serveProcess({
    AEX_DATA_DIR: join(folder, 'data'),
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
    AEX_HOST: '127.0.0.1',
    AEX_WORKERS: '1',
    DATABASE_URL: '',
  })
  assert.equal((await fetch(`http://127.0.0.1:${operatorPort}/readyz`)).status, 200)
  assert.equal((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status, 200)
  assert.equal(await service.stop(), 0)
})
