import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { OPERATION_IDS, operations } from '@agent-exchange/protocol'

/** CommandComplete of the PostgreSQL protocol (section 53.7): type C, length 11, the tag, NUL. */
const COMMIT_CONFIRMED = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1')

/** Operation names, which occur in the statement that claims an idempotency key. Other work commits too. */
const MUTATIONS = OPERATION_IDS.filter((id) => operations[id].mutation).map((id) => Buffer.from(id))

/** A proxy to the database that can swallow the confirmation of a commit. */
export interface CommitProxy extends AsyncDisposable {
  readonly url: string
  /** Swallows the next commit confirmation of a mutation and all later bytes. Resolves when that has happened. */
  loseNextCommit(): Promise<void>
  /** Closes every connection; new ones are forwarded. */
  cut(): void
}

export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let onCommit: (() => void) | undefined
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    let isSwallowing = false
    let isMutation = false
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (chunk) => {
      isMutation ||= MUTATIONS.some((name) => chunk.includes(name))
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      const isCommit = chunk.includes(COMMIT_CONFIRMED)
      if (isCommit && isMutation && onCommit) {
        isSwallowing = true
        onCommit()
        onCommit = undefined
      }
      if (isCommit) isMutation = false
      if (!isSwallowing) near.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(port) }).href,
    loseNextCommit: () => new Promise((resolve) => (onCommit = resolve)),
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close()
      cut()
    },
  }
}
