import { Type } from 'typebox'
import { defineTool, READS } from '../server/tool.ts'
import { inputOf } from './common-schemas.ts'

export const describeAgent = defineTool({
  name: 'describe_agent',
  title: 'Describe this agent',
  description: 'Says which agent this is, at which exchange, and under which policies it may send.',
  input: inputOf({}),
  output: Type.Object({
    organization_id: Type.String(),
    agent_id: Type.String(),
    exchange: Type.String(),
    fingerprint: Type.String({ description: 'of the signing key, to compare over another channel' }),
    policies: Type.Array(
      Type.Object({
        policy_id: Type.String(),
        purpose: Type.String(),
        allowed_recipients: Type.Array(Type.String()),
        needs_person: Type.Boolean({ description: 'whether a person approves each package' }),
      }),
    ),
  }),
  annotations: READS,
  callsPerMinute: 30,
  async run(_input, { session: { agent } }) {
    const policies = (await agent.policies()).map(
      ({ policy_id, purpose, allowed_recipients, human_approval }) => ({
        policy_id,
        purpose,
        allowed_recipients,
        needs_person: human_approval.required,
      }),
    )
    const { organizationId: organization_id, agentId: agent_id } = agent.identity
    const exchange = agent.context.connection.baseUrl
    const fingerprint = await agent.fingerprint()
    return {
      structured: { organization_id, agent_id, exchange, fingerprint, policies },
      text: [
        `${agent_id} of ${organization_id} at ${exchange}.`,
        ...policies.map(
          ({ policy_id, purpose, allowed_recipients, needs_person }) =>
            `Policy ${policy_id} (${purpose}): to ${allowed_recipients.join(', ')}${needs_person ? '; a person approves' : ''}.`,
        ),
        ...(policies.length === 0 ? ['There is no policy, so nothing can be sent.'] : []),
      ].join('\n'),
    }
  },
})
