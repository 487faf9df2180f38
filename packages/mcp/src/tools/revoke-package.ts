import { Type } from 'typebox'
import { defineTool } from '../server/tool.ts'
import { inputOf, packageId } from './common-schemas.ts'

const MAXIMUM_REASON = 500

export const revokePackage = defineTool({
  name: 'revoke_package',
  title: 'Revoke a package',
  description:
    'Revokes a package that this organization sent and that its recipient has not opened yet, by a signed statement. Cannot be undone. The recipient and the operator of the exchange can read the reason: put nothing confidential into it.',
  input: inputOf({
    package_id: packageId,
    reason_code: Type.String({
      pattern: '^[a-z][a-z_]{0,63}$',
      description: 'such as superseded or sent_in_error',
    }),
    reason: Type.String({
      minLength: 1,
      maxLength: MAXIMUM_REASON,
      description: 'a sentence without content',
    }),
  }),
  output: Type.Object({
    package_id: packageId,
    already_revoked: Type.Boolean(),
    future_access_blocked: Type.Boolean({ description: 'whether nobody can fetch the content any more' }),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  callsPerMinute: 10,
  async run({ package_id, reason_code, reason }, { session: { agent } }) {
    const done = await agent.revoke(package_id, { reasonCode: reason_code, reasonDetail: reason })
    const { alreadyRevoked, futureAccessBlocked } = done
    return {
      structured: { package_id, already_revoked: alreadyRevoked, future_access_blocked: futureAccessBlocked },
      text: `${package_id} is revoked. ${futureAccessBlocked ? 'Nobody can fetch it any more.' : 'Access could not be blocked everywhere; call it again.'}`,
    }
  },
})
