import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ServerUser } from './server-user.ts'

/** A folder that every user may pass through; for tests. */
export function testFolder(): Disposable & { readonly path: string; readonly data: string } {
  const path = mkdtempSync(join(tmpdir(), 'aex-embedded-'))
  chmodSync(path, 0o755)
  return {
    path,
    data: join(path, 'data'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  }
}

/** Another process that starts the embedded database, says so and holds it; for tests that kill it. */
export async function holdDatabase(dataDirectory: string, user?: ServerUser) {
  const module = new URL('start-embedded.ts', import.meta.url).href
  const code = `
    const { startEmbedded } = await import(${JSON.stringify(module)})
    try {
      const held = await startEmbedded({ dataDirectory: ${JSON.stringify(dataDirectory)}, log: () => undefined })
      console.log(JSON.stringify({ pid: held.pid(), connection: held.connection }))
      setInterval(() => undefined, 1000)
      process.stdin.on('data', () => process.exit(3))
    } catch (error) { console.log(JSON.stringify({ refused: error.message })); process.exitCode = 1 }`
  const holder = spawn(process.execPath, ['-C', 'source', '--input-type=module', '-e', code], {
    ...user,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: holder.stdout }), 'line')) as [string]
  const answer = JSON.parse(line) as { pid: number; refused?: string }
  return { holder, ...answer }
}
