/** The agent that receive-trial.ts kills: a real receiver on a real inbox file, serving webhooks on loopback. */

import { readFileSync } from 'node:fs'
import type { NotificationKeyDirectory } from '@agent-exchange/protocol'
import { createContext } from '../../packages/sdk/src/create-context.ts'
import { openFileKeyStore } from '../../packages/sdk/src/node/file-key-store.ts'
import { openSqliteInbox } from '../../packages/sdk/src/node/sqlite-inbox.ts'
import { createReceiver } from '../../packages/sdk/src/receive/receiver.ts'
import { dieBefore, type Death } from './die-before.ts'
import { serveAgent, TRIAL_LIMITS, withDirectory } from './serve-agent.ts'

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

const task = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as AgentTask
if (task.dieAt !== undefined) dieBefore(task.dieAt)

const { baseUrl, clientId, identity } = task
const context = createContext({ baseUrl, clientId, identity, keys: openFileKeyStore(task.keyFile) })
const inbox = openSqliteInbox(task.inboxFile)
// Neither key nor uniqueness: a second effect of one event has to show.
inbox.database.exec(
  'create table if not exists effect (position integer primary key, sequence integer) strict',
)

const receiver = createReceiver(withDirectory(context, task.directory), {
  inbox,
  publicUrl: task.publicUrl,
  handle: async ({ sequence }) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return (database) => void database.prepare('insert into effect (sequence) values (?)').run(sequence)
  },
  limits: TRIAL_LIMITS,
})
await serveAgent(receiver, inbox)
