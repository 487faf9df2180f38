export { DatabaseFailure } from '@agent-exchange/database'
export { migratedText, planText } from '@agent-exchange/database/migrations'
export { ConfigError } from '@agent-exchange/server/settings'
export { addAgent, type AddedAgent } from './agents/add-agent.ts'
export { importAgent, type ImportedAgent } from './agents/import-agent.ts'
export { readAddressBook, setOrganizationName } from './agents/address-book.ts'
export { listAgents, type RegisteredAgent } from './agents/agent-registry.ts'
export type { HostedAgent, HostedAgents } from './agents/hosted-agent.ts'
export { openHostedAgent } from './agents/open-agent.ts'
export { gatewayPlace } from './config/gateway-place.ts'
export { VARIABLES as GATEWAY_VARIABLES } from './config/variables.ts'
export { readGatewayConfig, type GatewayConfig } from './config/read-config.ts'
export type { ContentStore, NewContent, Reader, StoredContent } from './content/content-store.ts'
export { listHolds, placeHold, releaseHold, type HoldChange } from './content/holds.ts'
export { countLeft, rotateMasterKey } from './operations/rotate-master-key.ts'
export { listInstances } from './startup/instances.ts'
export { openGateway, type OpenGateway } from './startup/open-gateway.ts'
export { runGateway } from './startup/run-gateway.ts'
export { startGateway, type GatewayOptions, type RunningGateway } from './startup/start-gateway.ts'
export { readGatewayMigrations } from './stores/gateway-migrations.ts'
export { openApi, type ApiSettings, type GatewayApi } from './api/open-api.ts'
export { addInboxItem } from './inbox/add-item.ts'
export { addPushEndpoint, listPushEndpoints, removePushEndpoint } from './push/push-endpoints.ts'
export { listPolicies, putPolicy, removePolicy } from './policies/agent-policies.ts'
export { addSystem, listSystems, revokeSystem, type CompanySystem } from './systems/api-keys.ts'
export { ALL_AGENTS, isVerb, VERBS, type Verb } from './systems/verbs.ts'
export { ApprovalProblem, type ApprovalProblemCode } from './approvals/approval-problem.ts'
export {
  addRule,
  listRules,
  removeRule,
  type ApprovalRule,
  type RuleTerms,
} from './approvals/approval-rules.ts'
export { MAXIMUM_APPROVERS_OF_RULE, MAXIMUM_PEOPLE_OF_RULE } from './approvals/approval-limits.ts'
export { addDelegation, endDelegation, listDelegations } from './approvals/delegations.ts'
export {
  verifyStoredApproval,
  type StoredApproval,
  type StoredApprovalVerdict,
} from './approvals/verify-stored-approval.ts'
export { openPasskeys, type Passkeys, type SignedInPerson } from './approvals/passkeys.ts'
export {
  listChanges,
  recordChange,
  type Actor,
  type AdministrationEntry,
} from './people/administration-record.ts'
export {
  addPerson,
  listPeople,
  PeopleFailure,
  removePerson,
  renewLink,
  type Invited,
} from './people/people.ts'
export { isDeskRole, type Person } from './people/person-rows.ts'
