/**
 * What the CLI, the desk, the MCP server and the connectors of this repository need beyond the public entry. It promises nothing:
 * names come and go between releases.
 *
 * @packageDocumentation
 */

export { agentFingerprint } from './agent-keys/fingerprint.ts'
export type { AgentContext } from './context.ts'
export { readLiveView } from './log/live-view.ts'
export { uncheckedSentence, watchLog } from './log/watch-log.ts'
export type { MonitorFinding } from './monitor/label-scan.ts'
export { monitorLog, type MonitorResult } from './monitor/monitor-log.ts'
export { makersOf } from './objects/makers.ts'
export { newObject, type ObjectTerms } from './objects/new-object.ts'
export { inReadingOrder, labelOf, leadOf, outlineOf, titleOf, type Member } from './objects/object-outline.ts'
export { backoffMs, pause } from './pause-and-backoff.ts'
export { asUnknownPeer } from './peers/unknown-peer.ts'
export { rememberedUrl } from './receive/endpoint.ts'
export { createWebhookHandler } from './receive/webhook-handler.ts'
