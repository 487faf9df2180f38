import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { agentId, organizationId, timestamp, transportMode } from '../schema/shared.ts'
import { request, resource, strings, text, textByName } from './forms.ts'
import { publicKey, publicKeyRequest } from './keys.ts'

const agentFields = {
  organization_id: organizationId,
  agent_id: agentId,
  implementation: text,
  implementation_version: text,
  protocol_versions: strings,
  skill_versions: textByName,
  transport_modes: Type.Array(transportMode),
}

export const agentRegistration = define(
  'AgentRegistrationRequest',
  request(
    { ...agentFields, keys: Type.Array(publicKeyRequest) },
    proves({ default: 'ID-01', additionalProperties: 'O-29' }),
  ),
)

export const agentResource = define(
  'AgentResource',
  resource({
    ...agentFields,
    keys: Type.Array(publicKey),
    status: Type.String({ ...ours('O-05'), ...inUse('active') }),
    registered_at: timestamp,
    certification_status: Type.String(ours('O-05')),
  }),
)

export type AgentRegistration = Static<typeof agentRegistration>
export type AgentResource = Static<typeof agentResource>
