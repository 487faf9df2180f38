import type { ContentBlock, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Static, TObject, TSchema } from 'typebox'
import type { McpSession, ToolVerb } from '../session.ts'

/** What a tool gets beside its arguments. */
export interface ToolCall {
  readonly session: McpSession
  /** Aborted if the client cancels the request or goes away. */
  readonly signal: AbortSignal
  /** Tells the client how far the call is, if the client wants to know. */
  readonly progress: (message: string) => void
}

export interface ToolAnswer<Output> {
  readonly structured: Output
  /** Our own words. */
  readonly text: string
  /** Data of other parties, in blocks of their own. */
  readonly untrusted?: readonly ContentBlock[]
}

export interface Tool<Input extends TObject = TObject, Output extends TSchema = TSchema> {
  readonly name: string
  readonly title: string
  /** Undefined: any client may call it. */
  readonly verb?: ToolVerb
  readonly description: string
  readonly input: Input
  readonly output: Output
  readonly annotations: ToolAnnotations
  readonly callsPerMinute: number
  /** The caller wrote the object that a failure is about, so failures may name its members. */
  readonly takesContent?: boolean
  readonly run: (input: Static<Input>, call: ToolCall) => Promise<ToolAnswer<Static<Output>>>
}

/** A tool with its types checked against each other. */
export function defineTool<Input extends TObject, Output extends TSchema>(tool: Tool<Input, Output>): Tool {
  return tool
}

/** Hints of tools that only read. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
