import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { aexAt, type Ending } from './aex-here.fixture.ts'

/** An `aex` for shell scripts that loads nothing: it hands its call to the test and ends as the test says. */
export interface ResidentAex extends AsyncDisposable {
  /** The folder to put first on the path. */
  readonly commands: string
}

interface Call {
  readonly args: readonly string[]
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

/** CommonJS, which needs no loader of its own. */
const handOverTo = (port: number) => `#!/usr/bin/env node
const call = { args: process.argv.slice(2), folder: process.cwd(), env: process.env }
const sent = require('node:http').request({ port: ${port}, host: '127.0.0.1', method: 'POST' }, (answer) => {
  let text = ''
  answer.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => {
    const { code, stdout, stderr } = JSON.parse(text)
    process.stdout.write(stdout)
    process.stderr.write(stderr)
    process.exitCode = code
  })
})
sent.end(JSON.stringify(call))
`

/**
 * A page with thirty commands would start thirty processes, each of which loads hundreds of modules first; here the
 * commands run in this process. Standard input is not handed over.
 */
export async function residentAex(): Promise<ResidentAex> {
  const commands = mkdtempSync(join(tmpdir(), 'aex-resident-'))
  // A command takes the console while it runs, so the two ends of a pipe take turns.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = ({ args, folder, env }: Call) => {
    const ours = Object.entries(env).filter(([name]) => /^AEX_(?!TEST_)/u.test(name))
    const ending = last.then(() => aexAt({ env: Object.fromEntries(ours), folder }, ...args))
    last = ending.catch(() => undefined)
    return ending
  }
  const server = createServer((request, response) => {
    void json(request)
      .then((call) => inTurn(call as Call))
      .catch(defect)
      .then((ending) => response.end(JSON.stringify(ending)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  writeFileSync(join(commands, 'aex'), handOverTo(port), { mode: 0o755 })
  return {
    commands,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      rmSync(commands, { recursive: true })
    },
  }
}

/** What a process would show that ends by it. */
function defect(error: unknown): Ending {
  return { code: 1, stdout: '', stderr: error instanceof Error ? String(error.stack) : String(error) }
}
