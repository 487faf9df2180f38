import { Type } from 'typebox'
import { defineTool } from '../server/tool.ts'
import { inputOf, packageId } from './common-schemas.ts'

/** What the recipient and the operator read. Free text would carry content past the policy and the person. */
const REASONS = {
  superseded: 'A newer package replaces it.',
  sent_in_error: 'It was sent in error.',
  wrong_recipient: 'It was sent to the wrong recipient.',
  no_longer_valid: 'It is no longer valid.',
} as const
type Reason = keyof typeof REASONS

export const revokePackage = defineTool({
  name: 'revoke_package',
  title: 'Revoke a package',
  verb: 'revoke',
  description:
    'Revokes a package that this organization sent and that its recipient has not opened yet, by a signed statement. Cannot be undone. The recipient and the operator of the exchange see the reason.',
  input: inputOf({
    package_id: packageId,
    reason: Type.Enum(Object.keys(REASONS) as Reason[], {
      description: 'why, as the recipient and the operator read it',
    }),
  }),
  output: Type.Object({
    package_id: packageId,
    already_revoked: Type.Boolean(),
    future_access_blocked: Type.Boolean({ description: 'whether nobody can fetch the content any more' }),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  callsPerMinute: 10,
  async run({ package_id, reason }, { session: { agent } }) {
    const done = await agent.revoke(package_id, { reasonCode: reason, reasonDetail: REASONS[reason] })
    const { alreadyRevoked, futureAccessBlocked } = done
    const access = futureAccessBlocked
      ? 'Nobody can fetch it any more.'
      : 'Access could not be blocked everywhere; call it again.'
    return {
      structured: {
        package_id,
        already_revoked: alreadyRevoked,
        future_access_blocked: futureAccessBlocked,
      },
      text: `${package_id} is revoked. ${access}`,
    }
  },
})
