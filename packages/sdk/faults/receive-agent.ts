/** The agent that receive-trial.ts kills: a real receiver on a real inbox file, serving webhooks on loopback. */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import type { NotificationKeyDirectory } from '@agent-exchange/protocol'
import { createContext } from '../src/create-context.ts'
import { openFileKeyStore } from '../src/node/file-key-store.ts'
import { toNodeListener } from '../src/node/http-handler.ts'
import { openSqliteInbox } from '../src/node/sqlite-inbox.ts'
import { createReceiver } from '../src/receive/receiver.ts'

/** What the trial hands over. */
export interface AgentTask {
  readonly baseUrl: string
  readonly clientId: string
  readonly identity: { readonly organizationId: string; readonly agentId: string }
  readonly keyFile: string
  readonly inboxFile: string
  readonly directory: NotificationKeyDirectory
  readonly publicUrl: string
  readonly dieAt?: Death
}

/** Before which statement on the inbox file the agent ends itself, counted from its start or its first handling. */
export interface Death {
  readonly from: 'start' | 'handling'
  readonly statement: number
}

const FIRST_OF_HANDLING = 'attempts + 1'

const task = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as AgentTask
if (task.dieAt !== undefined) dieBefore(task.dieAt)

const { baseUrl, clientId, identity } = task
const context = createContext({ baseUrl, clientId, identity, keys: openFileKeyStore(task.keyFile) })
const { connection } = context
const inbox = openSqliteInbox(task.inboxFile)
// Neither key nor uniqueness: a second effect of one event has to show.
inbox.database.exec(
  'create table if not exists effect (position integer primary key, sequence integer) strict',
)

const receiver = createReceiver(
  {
    ...context,
    connection: {
      ...connection,
      call: ((operation, options) =>
        operation === 'getNotificationSigningKeys'
          ? Promise.resolve(task.directory)
          : connection.call(operation, options)) as typeof connection.call,
    },
  },
  {
    inbox,
    publicUrl: task.publicUrl,
    handle: async ({ sequence }) => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      return (database) => void database.prepare('insert into effect (sequence) values (?)').run(sequence)
    },
    limits: {
      gapPatienceMs: 10,
      pollMs: 100,
      safetyPollMs: 100,
      pollRetryMs: 20,
      handlerAttempts: 100_000,
      pageItems: 5,
    },
  },
)
await receiver.start()
const webhooks = toNodeListener(receiver.handler)
const server = createServer((request, response) => {
  if (request.url !== '/status') return webhooks(request, response)
  receiver.status().then(
    (status) => response.end(JSON.stringify(status)),
    () => response.writeHead(500).end(),
  )
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.on('SIGTERM', () => {
  void receiver.stop().then(async () => {
    await inbox.close()
    process.exit(0)
  })
})

/** Every way into SQLite is counted. SIGKILL takes effect before the call returns. */
function dieBefore({ from, statement }: Death): void {
  let count = 0
  let isCounting = from === 'start'
  const step = (sql: string) => {
    isCounting ||= sql.includes(FIRST_OF_HANDLING)
    if (isCounting && ++count === statement) process.kill(process.pid, 'SIGKILL')
  }
  const counting = <T extends object>(
    prototype: T,
    name: keyof T & string,
    sqlOf: (self: T, first: unknown) => string,
  ) => {
    const original = Reflect.get(prototype, name) as (...values: unknown[]) => unknown
    Reflect.set(prototype, name, function counted(this: T, ...values: unknown[]) {
      step(sqlOf(this, values[0]))
      return original.apply(this, values)
    })
  }
  counting(DatabaseSync.prototype, 'exec', (_, sql) => String(sql))
  for (const name of ['run', 'all', 'get'] as const) {
    counting(StatementSync.prototype, name, (self) => self.sourceSQL)
  }
}
