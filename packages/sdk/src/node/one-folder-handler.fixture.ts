/**
 * An agent in a process of its own: `node -C source one-folder-handler.fixture.ts FOLDER LOG [hang]`. Writes one line
 * for every call of its handler, and with `hang` never returns from it.
 */
import { appendFileSync } from 'node:fs'
import { connectFolder } from './connect-folder.ts'

const [folder = '', log = '', hang] = process.argv.slice(2)
await using agent = await connectFolder(folder)
await using receiver = agent.onPackage(
  async ({ packageId }) => {
    appendFileSync(log, `${process.pid} ${packageId}\n`)
    if (hang !== undefined) await new Promise(() => {})
  },
  { limits: { pollMs: 50, idleMs: 20 }, onReport: ({ kind }) => console.error(kind) },
)
await receiver.start()
console.log('ready')
await new Promise((resolve) => process.once('SIGTERM', resolve))
