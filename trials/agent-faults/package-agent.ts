/** The agent that package-trial.ts kills: it answers every package that is addressed to it, by `onPackage`. */

import { readFileSync } from 'node:fs'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { createContext } from '../../packages/sdk/src/create-context.ts'
import { openFileKeyStore } from '../../packages/sdk/src/node/file-key-store.ts'
import { openFilePinStore } from '../../packages/sdk/src/node/file-pin-store.ts'
import { openSqliteInbox } from '../../packages/sdk/src/node/sqlite-inbox.ts'
import { openSqliteOutbox } from '../../packages/sdk/src/node/sqlite-outbox.ts'
import { createPackageReceiver } from '../../packages/sdk/src/receive/package-receiver.ts'
import { dieBefore } from './die-before.ts'
import { serveAgent, TRIAL_LIMITS, withDirectory } from './serve-agent.ts'
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
const inbox = openSqliteInbox(task.inboxFile)
// Neither key nor uniqueness: a second effect of one package has to show.
inbox.database.exec(
  'create table if not exists effect (position integer primary key, package_id text) strict',
)

const receiver = createPackageReceiver(
  withDirectory(context, task.directory),
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
    limits: TRIAL_LIMITS,
  },
)
await serveAgent(receiver, inbox)
