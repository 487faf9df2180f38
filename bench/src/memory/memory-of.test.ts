import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { memoryOf, probed } from './memory-of.ts'

const PROGRAM = "const kept = Buffer.alloc(50e6, 1); setInterval(() => kept, 1_000); console.log('ready')"

test('a process says what its memory consists of, with the flags of V8 that it was given', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-memory-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'memory')
  const env = { ...process.env, ...probed(file, ['--max-semi-space-size=1', '--optimize-for-size']) }
  const child = spawn(process.execPath, ['-e', PROGRAM], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const { resident, heapUsed, heapTotal, young, code, external } = await memoryOf(child.pid ?? 0, file)
  assert.ok(external > 45 && external < 60, `${external} MB of buffers`)
  assert.ok(heapUsed > 1 && heapTotal >= heapUsed, `${heapUsed} of ${heapTotal} MB`)
  assert.ok(young <= 4, `${young} MB for young objects`)
  assert.ok(code > 0 && resident > external + heapUsed, `${code} MB of code, ${resident} MB resident`)
})
