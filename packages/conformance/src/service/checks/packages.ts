import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import {
  asksForToken,
  holds,
  isTaken,
  listOf,
  refused,
  refusedWith,
  same,
  succeeded,
} from '../../run/expect.ts'
import { type Answer, isObject } from '../../wire/wire.ts'
import { type Agent, keyBody, newIdentity, registerAgent, registerIfAccepted } from '../agent.ts'
import { download, holdsContent, WITHOUT_TOKEN } from '../download.ts'
import { type Draft, draftPackage, receiptStatement, send } from '../draft.ts'
import { digestRuleOf, statementFormOf } from '../open-point-choices.ts'
import { pathOf } from '../operations.ts'
import { isWithoutAccess, STATE_ORDER } from '../resources.ts'
import { sent } from '../scene.ts'

const read = ({ organization }: Agent, packageId: string) =>
  organization.call('GET', pathOf('getPackage', { package_id: packageId }))

const isOk = ({ status }: Answer) => status === 200

/** What a download returns, and who may use its address, is an open point (O-36). */
async function judgeDownload(context: Context, draft: Draft, url: string): Promise<void> {
  const { recipient, outsider, eventually } = context
  const content = await eventually(() => download(recipient, url), isOk)
  if (asksForToken(content) && !content.request.hasOwnToken)
    return context.note('O-36', 'another origin asks for a token, which the kit sends to the service only')
  succeeded(content, 200, 'the download', ['PKG-04'])
  holds(holdsContent(content, draft), 'the download does not hold the sealed content', ['PKG-04'])
  const isEnvelope = content.text.includes(String(draft.body['payload']))
  context.note('O-36', `the download ${isEnvelope ? 'holds the submitted envelope' : 'has another form'}`)
  const open = await download(recipient, url, WITHOUT_TOKEN)
  if (isTaken(open, 200, 'downloading a package without a token', ['PKG-07']))
    context.note('O-36', 'the address of a download works without a token')
  else refused(await download(outsider, url), 'downloading a package as no party', ['PKG-07'])
}

const accepted: Check = {
  name: 'packages/accepted',
  ids: ['PKG-04', 'PKG-07'],
  title: 'an accepted package is readable at once by both parties, downloadable, and hidden from others',
  async run(context) {
    const { sender, recipient, outsider } = context
    const draft = await draftPackage(context, sender, recipient)
    const created = succeeded(await send(sender, draft), 202, 'a valid package', ['PKG-04'])
    same(created.body['state'], 'accepted', 'the state of a new package', ['PKG-04'])
    same(created.body['metadata'], draft.metadata, 'the metadata of a new package', ['PKG-04'])
    for (const party of [sender, recipient]) {
      const { body } = succeeded(await read(party, draft.packageId), 200, 'a party reading its package')
      same(body['metadata'], draft.metadata, 'the metadata of a package')
    }
    refused(await read(outsider, draft.packageId), 'reading a package as no party', ['PKG-07'])
    const url = created.body['ciphertext_download_url']
    holds(typeof url === 'string', 'a native package has no ciphertext_download_url', ['PKG-04'])
    await judgeDownload(context, draft, url)
    context.note('O-17', `content_digest: ${digestRuleOf(context.openPoints)}`)
  },
}

const version: Check = {
  name: 'packages/protocol-version',
  ids: ['PKG-06'],
  title:
    'a recipient without the protocol version causes 409 protocol_version_incompatible with its versions',
  async run(context) {
    const { sender, recipient } = context
    const old = await registerAgent(recipient.organization, context.newId, { protocol_versions: ['svc/0.9'] })
    const draft = await draftPackage(context, sender, old)
    const answer = refusedWith(
      await send(sender, draft),
      409,
      'protocol_version_incompatible',
      'an older recipient',
    )
    const { details, retryable } = answer.body
    same(isObject(details) && details['supported_versions'], ['svc/0.9'], 'details.supported_versions')
    same(retryable, false, 'retryable')
  },
}

const capability: Check = {
  name: 'packages/recipient-capability',
  ids: ['PKG-15'],
  title:
    'a recipient that cannot receive is refused, with a code that differs from those of other categories',
  async run(context) {
    const { sender, recipient, outsider } = context
    const { organization } = recipient
    const stranger = { ...recipient, agentId: context.newId('agent') }
    const misplaced = { ...outsider, organization }
    const identity = await newIdentity(context.newId)
    const unusual = (change: object) => registerIfAccepted(organization, context.newId, change)
    const connectorOnly = await unusual({ transport_modes: ['ds_x'] })
    const keyless = await unusual({ keys: [keyBody(identity.signing, 'signing')] })
    const wrong: Readonly<Record<string, Agent>> = {
      'an unknown agent': stranger,
      'an agent of another organization': misplaced,
      ...(connectorOnly && { 'an agent without the transport mode': connectorOnly }),
      ...(keyless && { 'an agent without an encryption key': keyless }),
    }
    const other = await send(sender, { ...(await draftPackage(context, sender, recipient)), receipt: {} })
    for (const [what, to] of Object.entries(wrong)) {
      const answer = refused(
        await send(sender, await draftPackage(context, sender, to)),
        `a package to ${what}`,
      )
      holds(answer.body['code'] !== other.body['code'], `${what} has the code of an invalid request`)
      context.note('O-11', `a package to ${what}: ${answer.status} ${String(answer.body['code'])}`)
    }
  },
}

const expiry: Check = {
  name: 'packages/expiry',
  ids: ['PKG-12'],
  title: 'a package that expires before its creation, or has expired, is refused',
  async run(context) {
    const { sender, recipient } = context
    const at = (offset: number) => new Date(Date.parse(context.now()) + offset).toISOString()
    const wrong = {
      'expires before its creation': { expires_at: at(-3_600_000) },
      'has expired': { created_at: at(-7_200_000), expires_at: at(-3_600_000) },
    }
    for (const [what, metadata] of Object.entries(wrong)) {
      const draft = await draftPackage(context, sender, recipient, { metadata })
      const answer = refused(await send(sender, draft), `a package that ${what}`)
      context.note('O-11', `a package that ${what}: ${answer.status} ${String(answer.body['code'])}`)
    }
  },
}

const mode: Check = {
  name: 'packages/transport-mode',
  ids: ['PKG-05', 'PKG-03'],
  title: 'a manifest is refused where the organizations have no approved connectors',
  async run(context) {
    const { sender, outsider } = context
    const draft = await draftPackage(context, sender, outsider, { connectorId: context.newId('connector') })
    refused(await send(sender, draft), 'a ds_x package of a pair without connectors', ['PKG-03', 'PKG-05'])
    const native = await draftPackage(context, sender, outsider)
    const created = succeeded(
      await send(sender, native),
      202,
      'a native package of a pair without connectors',
    )
    same(created.body['transport_mode'], 'native', 'transport_mode of a pair without connectors', ['PKG-05'])
  },
}

const thread: Check = {
  name: 'packages/thread',
  ids: ['PKG-13', 'PKG-07'],
  title: 'a thread shows its packages in an order of time to its participants, and nothing to others',
  async run(context) {
    const { sender, recipient, outsider } = context
    const original = await sent(context)
    const { threadId } = original
    const second = await sent(context, { threadId })
    const answer = await sent(context, { threadId, respondsTo: original.packageId }, recipient, sender)
    const path = pathOf('getThread', { thread_id: threadId })
    for (const { organization } of [sender, recipient]) {
      const { body } = succeeded(
        await organization.call('GET', path),
        200,
        'a participant reading its thread',
      )
      const packages = listOf(body['packages'], 'packages of the thread')
      const oldestFirst = [original, second, answer].map(({ packageId }) => packageId)
      const shown = packages.map(({ package_id }) => package_id)
      const isNewestFirst = shown[0] === oldestFirst.at(-1)
      const expected = isNewestFirst ? oldestFirst.toReversed() : oldestFirst
      same(shown, expected, 'the packages of the thread in an order of time', ['PKG-13'])
      context.note('O-43', `a thread shows the ${isNewestFirst ? 'newest' : 'oldest'} package first`)
      const organizations = [sender, recipient].map((each) => each.organization.organizationId)
      const participants: unknown = body['participants']
      holds(Array.isArray(participants), 'participants of the thread are no list')
      same(new Set(participants), new Set(organizations), 'participants of the thread', ['PKG-13'])
      const modes = new Set([body['transport_mode'], ...packages.map(({ transport_mode }) => transport_mode)])
      same(modes.size, 1, 'transport modes of one thread', ['PKG-13'])
    }
    refused(await outsider.organization.call('GET', path), 'reading a thread as no participant', ['PKG-07'])
  },
}

const order: Check = {
  name: 'packages/state-order',
  ids: ['PKG-11', 'PKG-08'],
  title: 'whatever receipts arrive, a package never returns to an earlier state',
  async run(context) {
    const { recipient } = context
    const draft = await sent(context)
    const path = pathOf('createPackageReceipt', { package_id: draft.packageId })
    let last = -1
    for (const state of ['failed', 'received', 'rejected', 'opened', 'received', 'failed']) {
      const statement = await receiptStatement(context, recipient, draft, state)
      const answer = await recipient.organization.call('POST', path, statement)
      holds(
        answer.status === 201 || (answer.status >= 400 && answer.status < 500),
        `a receipt ${state}: ${answer.status}`,
        ['PKG-08'],
      )
      const now = String((await read(recipient, draft.packageId)).body['state'])
      const position = STATE_ORDER[now]
      holds(position !== undefined, `a receipt ${state} led to the state ${now}`, ['PKG-11'])
      holds(position >= last, `a receipt ${state} moved the package back to ${now}`, ['PKG-11'])
      last = position
      context.note('O-03', `after a receipt ${state}: ${now}`)
    }
  },
}

const receiptStates: Check = {
  name: 'packages/receipt-states',
  ids: ['PKG-08'],
  title:
    'the four receipt states are accepted, others refused, and a failure leaves the package to be tried again',
  async run(context: Context) {
    const { sender, recipient } = context
    for (const state of ['received', 'opened', 'rejected', 'failed']) {
      const draft = await sent(context)
      const path = pathOf('createPackageReceipt', { package_id: draft.packageId })
      const post = async (value: string, change?: object, by = recipient) =>
        by.organization.call('POST', path, await receiptStatement(context, by, draft, value, change))
      refused(await post('enjoyed'), 'a receipt with an unknown state')
      refused(await post(state, undefined, sender), 'a receipt by the sender')
      const before = (await read(sender, draft.packageId)).body['state']
      const answer = succeeded(await post(state), 201, `a receipt ${state}`)
      same(answer.body['package_id'], draft.packageId, 'package_id of a receipt')
      const after = (await read(sender, draft.packageId)).body['state']
      if (state === 'rejected' || state === 'failed') {
        const change = `a receipt ${state} moved its package from ${String(before)} to ${String(after)}`
        holds(isWithoutAccess(before, after), change)
        succeeded(await post('received'), 201, `a receipt received after one ${state}`)
      }
    }
    const draft = await sent(context)
    const path = pathOf('createPackageReceipt', { package_id: draft.packageId })
    const digest = { package_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' }
    const statement = await receiptStatement(context, recipient, draft, 'received', digest)
    const answer = await recipient.organization.call('POST', path, statement)
    const what = 'a receipt with another package_digest'
    context.note('O-23', `${what}: ${isTaken(answer, 201, what) ? 'accepted' : 'refused'}`)
    context.note('O-22', `signatures of receipts: ${statementFormOf(context.openPoints)}`)
  },
}

export const PACKAGE_CHECKS: readonly Check[] = [
  accepted,
  version,
  capability,
  expiry,
  mode,
  thread,
  order,
  receiptStates,
]
