import { revokeOwn } from '../../agents/own-packages.ts'
import { agentOf, type Handler } from '../call.ts'
import type { REVOCATION_REASONS } from '../schemas.ts'

/** What the recipient and the operator read. Free text would carry content past the policy and the person. */
const DETAILS: Readonly<Record<(typeof REVOCATION_REASONS)[number], string>> = {
  superseded: 'A newer package replaces it.',
  sent_in_error: 'It was sent in error.',
  wrong_recipient: 'It was sent to the wrong recipient.',
  no_longer_valid: 'It is no longer valid.',
}

export const revokePackage: Handler<'revokePackage'> = async (call) => {
  const hosted = agentOf(call)
  const { reason } = call.body
  const packageId = call.path['package_id'] ?? ''
  const done = await revokeOwn(hosted, packageId, { reasonCode: reason, reasonDetail: DETAILS[reason] })
  return {
    body: {
      package_id: packageId,
      already_revoked: done.alreadyRevoked,
      future_access_blocked: done.futureAccessBlocked,
    },
  }
}
