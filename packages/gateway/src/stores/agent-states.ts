import type { Database, Transaction } from '@agent-exchange/database'
import type {
  DeploymentStore,
  KnownDeployment,
  LogState,
  LogStateStore,
  LogTrouble,
} from '@agent-exchange/sdk'
import type { MonitorState } from '@agent-exchange/sdk/internal'
import { openAgentDocuments } from './agent-documents.ts'

/** What one agent remembers of the transparency log. */
export function openPostgresLogState(db: Database, agentId: string): LogStateStore {
  const documents = openAgentDocuments(db, agentId)
  return {
    read: () => documents.read<LogState>('log'),
    async replace(expected, next) {
      const stored = await documents.read<LogState>('log')
      if (stored?.checkpoint !== expected?.checkpoint) return false
      return documents.replace('log', stored, next)
    },
    async keepSplitView(view) {
      return insertSplitView(db, agentId, JSON.stringify(view))
    },
    readTrouble: () => documents.read<LogTrouble>('log_trouble'),
    writeTrouble: (trouble) => documents.write('log_trouble', trouble),
  }
}

/** Returns where it is. */
export async function insertSplitView(
  db: Database | Transaction,
  agentId: string,
  view: string,
): Promise<string> {
  const [row] = await db<{ number: number }[]>`
    insert into agent_split_view (agent_id, view) values (${agentId}, ${view}) returning number`
  return `agent_split_view ${row?.number}`
}

/** What the exchange of one agent published last. */
export function openPostgresDeployment(db: Database, agentId: string): DeploymentStore {
  const documents = openAgentDocuments(db, agentId)
  return {
    read: () => documents.read<KnownDeployment>('deployment'),
    write: (known) => documents.write('deployment', known),
  }
}

/** How far the monitor of one agent has scanned the log. */
export interface MonitorStateStore {
  read(): Promise<MonitorState | undefined>
  write(state: MonitorState): Promise<void>
}

export function openPostgresMonitorState(db: Database, agentId: string): MonitorStateStore {
  const documents = openAgentDocuments(db, agentId)
  return {
    read: () => documents.read<MonitorState>('monitor'),
    write: (state) => documents.write('monitor', state),
  }
}
