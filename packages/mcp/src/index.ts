/**
 * An agent as a Model Context Protocol server: a language model lists, reads, drafts, checks, sends and revokes packages
 * within the policies that a person wrote. What needs a person waits for the desk; no tool approves anything.
 *
 * @packageDocumentation
 */

export { folderMcpAgent } from './folder-mcp-agent.ts'
export { accessToken } from './http/access-token.ts'
export { answerRequests, type McpRequests } from './http/answer-requests.ts'
export type { McpHttpServer } from './http/serve-http.ts'
export type { KnownThread, McpAgent, WaitingEvent } from './mcp-agent.ts'
export { createCallBudget, type CallBudget } from './server/call-budget.ts'
export { serveHttp, serveStandardStreams, type StreamServer } from './serve.ts'
export type { CallReport, McpSession, ToolVerb } from './session.ts'
export { startToolClient, type ServerCommand, type ToolClient } from './tool-client.ts'
