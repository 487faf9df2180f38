import type { Database, Queries } from '@agent-exchange/database'

/** Owner of the table agent_document. */

export type DocumentName = 'approver' | 'deployment' | 'log' | 'log_trouble' | 'monitor'

interface DocumentRow {
  readonly content: string
}

/** The small documents of one agent, each a JSON text. */
export interface AgentDocuments {
  read<T>(name: DocumentName): Promise<T | undefined>
  /** Undefined removes it. */
  write(name: DocumentName, content: unknown): Promise<void>
  /** Replaces the text only if it is still the given one. */
  replace(name: DocumentName, before: unknown, after: unknown): Promise<boolean>
}

export function openAgentDocuments(db: Database | Queries, agentId: string): AgentDocuments {
  return {
    async read<T>(name: DocumentName) {
      const [row] = await db<DocumentRow[]>`
        select content from agent_document where agent_id = ${agentId} and name = ${name}`
      return row && (JSON.parse(row.content) as T)
    },
    async write(name, content) {
      if (content === undefined)
        await db`delete from agent_document where agent_id = ${agentId} and name = ${name}`
      else
        await db`
          insert into agent_document (agent_id, name, content)
          values (${agentId}, ${name}, ${JSON.stringify(content)})
          on conflict (agent_id, name) do update set content = excluded.content`
    },
    async replace(name, before, after) {
      const next = JSON.stringify(after)
      const { count } =
        before === undefined
          ? await db`
              insert into agent_document (agent_id, name, content) values (${agentId}, ${name}, ${next})
              on conflict do nothing`
          : await db`
              update agent_document set content = ${next}
              where agent_id = ${agentId} and name = ${name} and content = ${JSON.stringify(before)}`
      return count === 1
    },
  }
}
