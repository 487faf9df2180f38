import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { OPERATION_IDS, operations } from '@agent-exchange/protocol'

/** PostgreSQL protocol, CommandComplete (section 53.7): type C, length 11, the tag and its zero. */
const COMMIT_CONFIRMED = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1')

/** Stand in the parameters of the statement that claims a mutation's key; other work commits too. */
const MUTATIONS = OPERATION_IDS.filter((id) => operations[id].mutation).map((id) => Buffer.from(id))

/** A way to the database on which the confirmation of a commit can be lost. */
export interface CommitProxy extends AsyncDisposable {
  readonly url: string
  /** The next confirmation of a mutation is swallowed, with all that follows it. Resolves when that has happened. */
  loseNextCommit(): Promise<void>
  /** Cuts every connection, and lets new ones through. */
  cut(): void
}

export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let onCommit: (() => void) | undefined
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    let isDeaf = false
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
        isDeaf = true
        onCommit()
        onCommit = undefined
      }
      if (isCommit) isMutation = false
      if (!isDeaf) near.write(chunk)
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
