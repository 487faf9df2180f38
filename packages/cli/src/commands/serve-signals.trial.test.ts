import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { serveProcess } from '../serve-process.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-signals-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

const [port, operatorPort] = await freePorts(2)
const env = {
  AEX_DATA_DIR: join(folder, 'data'),
  AEX_PORT: String(port),
  AEX_OPERATOR_PORT: String(operatorPort),
  AEX_HOST: '127.0.0.1',
  DATABASE_URL: '',
}

for (const AEX_WORKERS of ['1', '2']) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`${signal} twice at once stops ${AEX_WORKERS} API process(es) cleanly, with exit code 0`, async () => {
      await using service = await serveProcess({ ...env, AEX_WORKERS })
      // As npm does it: the process group gets the signal, and npm forwards it to its child.
      process.kill(-service.pid, signal)
      process.kill(service.pid, signal)
      // Two that arrive in the same instant may be one to the kernel, so a third follows.
      for (let tries = 0; tries < 2_000 && !service.output.said.includes('finishing'); tries++) await sleep(1)
      process.kill(service.pid, signal)
      assert.equal(await service.exitCode(), 0, service.output.said)
      assert.match(service.output.said, /finishing running work[^]*"Stopped"\}\n$/u)
    })
  }
}
