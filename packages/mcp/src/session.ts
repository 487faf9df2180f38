import type { FolderAgent } from '@agent-exchange/sdk/node'
import type { LogPolicy } from '@agent-exchange/log'

/** How a call of a tool ended. Contains neither arguments nor results. */
export interface CallReport {
  readonly tool: string
  readonly outcome: 'done' | 'failed' | 'limited' | 'cancelled'
  readonly code?: string
  readonly milliseconds: number
}

/** What the tools work with. One session serves all clients of a process. */
export interface McpSession {
  readonly agent: FolderAgent
  readonly version: string
  /** Folder with the policies that a person wrote. The model chooses among them and cannot change them. */
  readonly policies: string
  /** Keys of logs and witnesses that verification of capsules relies on. */
  readonly logPolicy?: LogPolicy
  /** The skill that drafts are written with. */
  readonly skill: { readonly id: string; readonly version: string }
  /** The command that starts the desk, where a person approves. Named if no desk is running. */
  readonly deskCommand: string
  /** The command with which the person who approves makes an approver's key. */
  readonly approverCommand: string
  readonly now: () => Date
  readonly onCall?: (report: CallReport) => void
}
