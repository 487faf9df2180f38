/** What `aex gateway` needs. Everything that only a running instance uses is loaded by `runGateway`. */

export { DatabaseFailure } from '@agent-exchange/database'
export { migratedText, planText } from '@agent-exchange/database/migrations'
export { ConfigError } from '@agent-exchange/server/settings'
export { addAgent } from './agents/add-agent.ts'
export { readAddressBook, setOrganizationName } from './agents/address-book.ts'
export { listAgentKeys, makeNextClientKey, useNextClientKey } from './agents/agent-keys.ts'
export { listEvents, retryEvents } from './agents/agent-events.ts'
export { listAgents, type RegisteredAgent } from './agents/agent-registry.ts'
export type { HostedAgent } from './agents/hosted-agent.ts'
export { importAgent } from './agents/import-agent.ts'
export { openHostedAgent } from './agents/open-agent.ts'
export { MAXIMUM_APPROVERS_OF_RULE, MAXIMUM_PEOPLE_OF_RULE } from './approvals/approval-limits.ts'
export { ApprovalProblem } from './approvals/approval-problem.ts'
export { addRule, listRules, removeRule, type ApprovalRule } from './approvals/approval-rules.ts'
export { addDelegation, endDelegation, listDelegations } from './approvals/delegations.ts'
export { administrationPlace, type AdministrationPlace } from './config/administration-place.ts'
export { gatewayPlace } from './config/gateway-place.ts'
export { readGatewayConfig } from './config/read-config.ts'
export { VARIABLES as GATEWAY_VARIABLES } from './config/variables.ts'
export { listHolds, placeHold, releaseHold, type HoldChange } from './content/holds.ts'
export { countLeft, rotateMasterKey } from './operations/rotate-master-key.ts'
export { isEntryNumber, listChanges, recordedChange } from './people/administration-record.ts'
export {
  addPerson,
  changeRoles,
  listPeople,
  PeopleFailure,
  removePerson,
  renewLink,
  type Invited,
} from './people/people.ts'
export { isDeskRole } from './people/person-rows.ts'
export { listPolicies, putPolicy, removePolicy } from './policies/agent-policies.ts'
export { addPushEndpoint, listPushEndpoints, removePushEndpoint } from './push/push-endpoints.ts'
export { listInstances } from './startup/instances.ts'
export { openGateway, type OpenGateway } from './startup/open-gateway.ts'
export { runGateway } from './startup/run-gateway.ts'
export { readGatewayMigrations } from './stores/gateway-migrations.ts'
export { addSystem, listSystems, revokeSystem, type CompanySystem } from './systems/api-keys.ts'
export { ALL_AGENTS, isVerb, VERBS, type Verb } from './systems/verbs.ts'
