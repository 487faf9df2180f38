export type { HostedAgent, HostedAgents } from './agents/hosted-agent.ts'
export type { ContentStore, NewContent, Reader, StoredContent } from './content/content-store.ts'
export { readGatewayMigrations } from './stores/gateway-migrations.ts'
