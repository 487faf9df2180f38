export type { DeskAgent, DraftDecision, ThreadSummary, WaitingWork } from './desk-agent.ts'
export { DeskPortUnusable, startDesk, type Desk, type DeskOptions } from './desk-server.ts'
