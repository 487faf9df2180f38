import type { NetworkStory, PolicyEnvelope, ReasoningPackage } from '@agent-exchange/protocol'
import type { Identity } from '@agent-exchange/sdk'
import type { Company } from './company.ts'
import { SKILL } from './register-agent.ts'
import { openingOf, stepsOf, under } from './sdk-steps.ts'
import type { Transport } from './stage.ts'
import { policyFor } from './story-objects.ts'
import type { Sent, StoryDriver } from './story.ts'
import { short, type Timeline } from './timeline.ts'

export interface Telling {
  readonly timeline: Timeline
  readonly transport: Transport
  readonly now: () => Date
}

/** What the carmaker does by calls of the SDK, whatever the supplier uses. */
export interface SdkCarmaker extends Pick<StoryDriver, 'share' | 'send'> {
  revoke(packageId: string): Promise<void>
}

export function sdkCarmaker(manufacturer: Company, seats: Identity, { timeline, now }: Telling): SdkCarmaker {
  const policies = {
    approved: policyFor(manufacturer.agent.identity, seats, now(), true),
    usual: policyFor(manufacturer.agent.identity, seats, now(), false),
  }
  const send = async (
    content: ReasoningPackage | NetworkStory,
    policy: PolicyEnvelope,
    more: Pick<Parameters<typeof manufacturer.agent.send>[0], 'approve'> = {},
  ): Promise<Sent> => {
    const object = content.object_type === 'network_story' ? content : under(content, policy)
    const input = { skill: SKILL, to: seats, object, policy, ...more }
    const sent = await manufacturer.agent.send(input, { onProgress: stepsOf(manufacturer, timeline) })
    return { ...sent, object }
  }
  return {
    async share(content) {
      const sent = await send(content, policies.approved, {
        approve: ({ purpose, checks }) => {
          timeline.add({
            who: 'manufacturer',
            kind: 'decision',
            what: 'a person approves',
            detail: `${purpose}; ${checks.length} policy checks passed`,
          })
          return { approved: true, approvalReference: 'approval_demo_1' }
        },
      })
      return sent
    },
    send: (content) => send(content, policies.usual),
    async revoke(packageId) {
      const { revocation } = await manufacturer.agent.revoke(packageId, {
        reasonCode: 'sent_in_error',
        reasonDetail: 'The plan was already agreed.',
      })
      timeline.add({
        who: 'manufacturer',
        to: 'exchange',
        kind: 'decision',
        what: 'revokes the package, signed',
        detail: `${short(packageId)}  ${revocation.outcome}`,
      })
    },
  }
}

/** Waits for a package and opens it. Returns the number of signed receipts. */
export async function openWithSdk(
  reader: Company,
  packageId: string,
  { timeline, transport }: Telling,
): Promise<number> {
  await reader.waitForEvent(packageId, 'package.accepted')
  const onProgress = openingOf(reader, timeline, transport)
  return (await reader.agent.open(packageId, { onProgress })).receipts.length
}
