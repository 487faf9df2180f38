/** The agent that package-trial.ts kills: it answers every package that is addressed to it, by `onPackage`. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { createContext } from '../src/create-context.ts'
import { openFileKeyStore } from '../src/node/file-key-store.ts'
import { openFilePinStore } from '../src/node/file-pin-store.ts'
import { toNodeListener } from '../src/node/http-handler.ts'
import { openSqliteInbox } from '../src/node/sqlite-inbox.ts'
import { openSqliteOutbox } from '../src/node/sqlite-outbox.ts'
import { createPackageReceiver } from '../src/receive/package-receiver.ts'
import { dieBefore } from './die-before.ts'
import type { AgentTask } from './receive-agent.ts'

/** What the trial hands over. */
export interface PackageTask extends AgentTask {
  readonly outboxFile: string
  readonly pinsFile: string
  readonly policy: PolicyEnvelope
  readonly skill: { readonly id: string; readonly version: string }
}

const task = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as PackageTask
if (task.dieAt !== undefined) dieBefore(task.dieAt)

const { baseUrl, clientId, identity, policy, skill } = task
const keys = openFileKeyStore(task.keyFile)
const context = createContext({ baseUrl, clientId, identity, keys, pins: openFilePinStore(task.pinsFile) })
const { connection } = context
const inbox = openSqliteInbox(task.inboxFile)
// Neither key nor uniqueness: a second effect of one package has to show.
inbox.database.exec(
  'create table if not exists effect (position integer primary key, package_id text) strict',
)

const receiver = createPackageReceiver(
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
  async ({ packageId, reply }) => {
    // Worded differently in every life, as a language model does.
    await reply({ summary: `Answer of process ${process.pid}.` })
    return (database) => {
      database.prepare('insert into effect (package_id) values (?)').run(packageId)
    }
  },
  { send: { outbox: openSqliteOutbox(task.outboxFile) }, defaults: { policy, skill } },
  {
    inbox,
    publicUrl: task.publicUrl,
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
