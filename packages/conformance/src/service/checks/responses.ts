import type { Check } from '../../run/check.ts'
import { holds, refused, same, succeeded } from '../../run/expect.ts'
import { blaming } from '../../run/finding.ts'
import { download } from '../download.ts'
import { draftPackage, revocationStatement, send, sendPackage } from '../draft.ts'
import { isInEvidence } from '../evidence.ts'
import { pathOf } from '../operations.ts'
import { sent } from '../scene.ts'

const response: Check = {
  name: 'responses/independent-package',
  ids: ['PKG-09'],
  title: 'a response is a package of its own in the same thread, and can be answered',
  async run(context) {
    const { sender, recipient } = context
    const original = await sent(context)
    const { threadId } = original
    const answer = await sent(context, { threadId, respondsTo: original.packageId }, recipient, sender)
    const read = await sender.organization.call('GET', pathOf('getPackage', { package_id: answer.packageId }))
    same(succeeded(read, 200).body['thread_id'], threadId, 'the thread of a response')
    await sent(context, { threadId, respondsTo: answer.packageId })
    await sent(context, { threadId, respondsTo: original.packageId }, recipient, sender)
  },
}

const wrongResponses: Check = {
  name: 'responses/refused',
  ids: ['PKG-09'],
  title: 'a response in another thread, to another package or by a third organization is refused',
  async run(context) {
    const { sender, recipient, outsider } = context
    const original = await sent(context)
    const other = await sent(context)
    const { threadId } = original
    const respondsTo = original.packageId
    const path = pathOf('createPackageResponse', { package_id: respondsTo })
    const elsewhere = await draftPackage(context, recipient, sender, { respondsTo })
    refused(await send(recipient, elsewhere), 'a response in another thread')
    const mismatched = await draftPackage(context, recipient, sender, {
      threadId,
      respondsTo: other.packageId,
    })
    succeeded(await recipient.organization.call('POST', '/v1/policy-receipts', mismatched.receipt), 201)
    refused(
      await recipient.organization.call('POST', path, mismatched.body),
      'a response that names another package',
    )
    const foreign = await draftPackage(context, outsider, sender, { threadId, respondsTo })
    refused(await send(outsider, foreign), 'a response by an organization that is no party')
    const missing = await draftPackage(context, recipient, sender, { threadId })
    succeeded(await recipient.organization.call('POST', '/v1/policy-receipts', missing.receipt), 201)
    refused(await recipient.organization.call('POST', path, missing.body), 'a response that names no package')
    const unreceipted = await draftPackage(context, recipient, sender, { threadId, respondsTo })
    refused(await sendPackage(recipient, unreceipted), 'a response without a policy receipt')
  },
}

const revocation: Check = {
  name: 'responses/revocation',
  ids: ['PKG-10', 'PKG-09', 'AUD-02'],
  title: 'a signed revocation blocks the content and responses, once, and is in evidence',
  async run(context) {
    const { sender, recipient } = context
    const draft = await draftPackage(context, sender, recipient)
    const created = succeeded(await send(sender, draft), 202)
    const { packageId, threadId } = draft
    const path = pathOf('revokePackage', { package_id: packageId })
    const statement = await revocationStatement(context, sender, packageId)
    const altered = { ...statement, reason_code: 'altered' }
    refused(
      await sender.organization.call('POST', path, altered),
      'a revocation that was altered after signing',
    )
    const byRecipient = await revocationStatement(context, recipient, packageId)
    refused(await recipient.organization.call('POST', path, byRecipient), 'a revocation by the recipient')
    const revoked = succeeded(await sender.organization.call('POST', path, statement), 200, 'a revocation')
    same([revoked.body['package_id'], revoked.body['state']], [packageId, 'revoked'], 'the revoked package')
    const read = await recipient.organization.call('GET', pathOf('getPackage', { package_id: packageId }))
    if (read.status === 200) same(read.body['state'], 'revoked', 'the state after the revocation')
    else refused(read, 'reading a revoked package')
    const url = created.body['ciphertext_download_url']
    if (revoked.body['future_access_blocked'] === true && typeof url === 'string')
      refused(await download(recipient, url), 'downloading a package whose future access is blocked')
    else context.note('O-34', `outcome of a revocation: ${String(revoked.body['outcome'])}`)
    const answer = await draftPackage(context, recipient, sender, { threadId, respondsTo: packageId })
    await blaming(['PKG-09', 'PKG-10'], async () =>
      refused(await send(recipient, answer), 'a response to a revoked package'),
    )
    const again = await revocationStatement(context, sender, packageId)
    refused(await sender.organization.call('POST', path, again), 'a second revocation')
    const eventId = String(revoked.body['audit_event_id'])
    holds(
      await isInEvidence(context, draft, eventId),
      `evidence lacks the event ${eventId} of the revocation`,
      ['AUD-02'],
    )
  },
}

export const RESPONSE_CHECKS: readonly Check[] = [response, wrongResponses, revocation]
