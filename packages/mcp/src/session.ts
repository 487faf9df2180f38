import type { LogPolicy } from '@agent-exchange/log'
import type { McpAgent } from './mcp-agent.ts'

/** How a call of a tool ended. Contains neither arguments nor results. */
export interface CallReport {
  readonly tool: string
  readonly outcome: 'done' | 'failed' | 'limited' | 'cancelled'
  readonly code?: string
  readonly milliseconds: number
}

/** What a tool does. The scopes of a client may permit some of it. No tool approves. */
export type ToolVerb = 'read' | 'draft' | 'send' | 'revoke' | 'inbox'

/** What the tools work with. */
export interface McpSession {
  readonly agent: McpAgent
  readonly version: string
  /** What the client may do; tools for anything else are not offered. Undefined: everything. */
  readonly permits?: (verb: ToolVerb) => boolean
  /** Keys of logs and witnesses that verification of capsules relies on. */
  readonly logPolicy?: LogPolicy
  /** The skill that drafts are written with. */
  readonly skill: { readonly id: string; readonly version: string }
  /** What a person does to decide about a draft. Shown if the agent names no page for it. */
  readonly deskCommand: string
  /** What the person who approves does to make an approver's key. */
  readonly approverCommand: string
  readonly now: () => Date
  readonly onCall?: (report: CallReport) => void
}

export function isPermitted({ permits }: McpSession, verb: ToolVerb | undefined): boolean {
  return verb === undefined || permits === undefined || permits(verb)
}
