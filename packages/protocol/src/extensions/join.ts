import { Type, type Static } from 'typebox'
import { name, request, resource } from '../resources/forms.ts'
import { publicJwk } from '../resources/keys.ts'
import { define } from '../schema/define.ts'
import { agentId } from '../schema/shared.ts'

export const joinRequest = define(
  'joinRequest',
  request({
    invitation_secret: Type.String({ minLength: 1, description: 'the secret of the invitation' }),
    agent_id: agentId,
    public_jwk: publicJwk,
  }),
)

/** The client that the invitation registered, bound to one agent. */
export const joinedClient = define(
  'joinedClient',
  resource({ client_id: name, organization_id: name, agent_id: name }),
)
export type JoinedClient = Static<typeof joinedClient>
