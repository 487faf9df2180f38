import type { Check } from '../../run/check.ts'
import { holds, refused, succeeded } from '../../run/expect.ts'
import { isObject } from '../../wire/wire.ts'
import { PLAINTEXT_MARK, receiptStatement } from '../draft.ts'
import { pathOf } from '../operations.ts'
import { AUDIT_EVENT } from '../resources.ts'
import { sent } from '../scene.ts'
import { requireShape } from '../shape.ts'

/** Where events stand in evidence is an open point (O-07): every object that calls itself one. */
function eventsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(eventsIn)
  if (!isObject(value)) return []
  const inner = Object.values(value).flatMap(eventsIn)
  return value['object_type'] === 'audit_event' ? [value, ...inner] : inner
}

const evidence: Check = {
  name: 'evidence/events',
  ids: ['AUD-01', 'AUD-02', 'OBJ-10'],
  title: 'evidence holds valid audit events of the exchange and no content, for the parties only',
  async run(context) {
    const { sender, recipient, outsider } = context
    const draft = await sent(context)
    const statement = await receiptStatement(context, recipient, draft, 'received')
    const receipts = pathOf('createPackageReceipt', { package_id: draft.packageId })
    succeeded(await recipient.organization.call('POST', receipts, statement), 201)
    const paths = [
      pathOf('getThreadAuditEvidence', { thread_id: draft.threadId }),
      pathOf('getPackageAuditEvidence', { package_id: draft.packageId }),
    ]
    for (const path of paths) {
      for (const { organization } of [sender, recipient]) {
        const answer = succeeded(await organization.call('GET', path), 200, 'a party reading evidence')
        const events = eventsIn(answer.body)
        holds(events.length > 0, `${path} holds no audit event`)
        for (const event of events) requireShape(event, AUDIT_EVENT, 'an audit event in evidence')
        const kinds = events.map(({ event_type }) => event_type)
        context.note('O-26', kinds.join(', '))
        holds(kinds.includes('package_sent'), `evidence of a sent package has only ${kinds.join(', ')}`)
        const ciphertext = String(draft.body['payload']).slice(-80)
        holds(!answer.text.includes(ciphertext), 'evidence repeats the ciphertext')
        holds(!answer.text.includes(PLAINTEXT_MARK), 'evidence contains plaintext')
      }
      refused(await outsider.organization.call('GET', path), 'reading evidence as no party')
    }
  },
}

const receiptEvent: Check = {
  name: 'evidence/policy-receipt',
  ids: ['AUD-02'],
  title: 'the audit event that the answer to a policy receipt names is in the evidence of its package',
  async run(context) {
    const { sender } = context
    const { packageId, metadata } = await sent(context)
    const path = pathOf('getPolicyReceipt', { policy_receipt_id: String(metadata['policy_receipt_id']) })
    const eventId = succeeded(await sender.organization.call('GET', path), 200).body['audit_event_id']
    const found = await sender.organization.call(
      'GET',
      pathOf('getPackageAuditEvidence', { package_id: packageId }),
    )
    holds(
      found.text.includes(`"${String(eventId)}"`),
      `evidence lacks the event ${String(eventId)} of the policy receipt`,
    )
  },
}

const order: Check = {
  name: 'evidence/order',
  ids: ['AUD-01'],
  title: 'evidence that grows keeps what it held, in its order',
  async run(context) {
    const { sender, recipient } = context
    const draft = await sent(context)
    const path = pathOf('getThreadAuditEvidence', { thread_id: draft.threadId })
    const ids = async () => {
      const answer = succeeded(await sender.organization.call('GET', path), 200)
      return eventsIn(answer.body).map(({ id }) => String(id))
    }
    const before = await ids()
    const statement = await receiptStatement(context, recipient, draft, 'received')
    const receipts = pathOf('createPackageReceipt', { package_id: draft.packageId })
    succeeded(await recipient.organization.call('POST', receipts, statement), 201)
    const after = await ids()
    const kept = after.filter((id) => before.includes(id))
    holds(kept.join(' ') === before.join(' '), 'events of evidence changed their order or disappeared')
    holds(after.length > before.length, 'a receipt left no event in evidence')
  },
}

export const EVIDENCE_CHECKS: readonly Check[] = [evidence, receiptEvent, order]
