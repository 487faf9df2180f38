import type { Check } from '../../run/check.ts'
import { holds, refused, succeeded } from '../../run/expect.ts'
import { NotJudged } from '../../run/finding.ts'
import { isObject } from '../../wire/wire.ts'
import { PLAINTEXT_MARK, receiptStatement } from '../draft.ts'
import { evidencePaths, isInEvidence } from '../evidence.ts'
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

const secrecy: Check = {
  name: 'evidence/parties-only',
  ids: ['AUD-01'],
  title: 'evidence is for the parties only, and holds no content',
  async run(context) {
    const { sender, recipient, outsider } = context
    const draft = await sent(context)
    const ciphertext = String(draft.body['payload']).slice(-80)
    for (const path of evidencePaths(draft)) {
      for (const { organization } of [sender, recipient]) {
        const answer = succeeded(await organization.call('GET', path), 200, 'a party reading evidence')
        holds(!answer.text.includes(ciphertext), 'evidence repeats the ciphertext')
        holds(!answer.text.includes(PLAINTEXT_MARK), 'evidence contains plaintext')
      }
      refused(await outsider.organization.call('GET', path), 'reading evidence as no party')
    }
  },
}

const events: Check = {
  name: 'evidence/events',
  ids: ['AUD-01', 'OBJ-10'],
  title: 'the audit events in evidence are valid protocol objects',
  async run(context) {
    const { sender, recipient } = context
    const draft = await sent(context)
    const statement = await receiptStatement(context, recipient, draft, 'received')
    const receipts = pathOf('createPackageReceipt', { package_id: draft.packageId })
    succeeded(await recipient.organization.call('POST', receipts, statement), 201, 'a receipt', ['PKG-08'])
    const found: Record<string, unknown>[] = []
    for (const path of evidencePaths(draft))
      found.push(...eventsIn(succeeded(await sender.organization.call('GET', path), 200).body))
    // The form of evidence and the kinds of its events are open points.
    context.note('O-07', `evidence of a package holds ${found.length} audit events in a known form`)
    if (found.length === 0) throw new NotJudged('no audit event is recognizable in evidence')
    context.note('O-26', [...new Set(found.map(({ event_type }) => String(event_type)))].join(', '))
    for (const event of found) requireShape(event, AUDIT_EVENT, 'an audit event in evidence')
  },
}

const receiptEvent: Check = {
  name: 'evidence/policy-receipt',
  ids: ['AUD-02'],
  title: 'the audit event that the answer to a policy receipt names is in evidence',
  async run(context) {
    const { sender } = context
    const draft = await sent(context)
    const policyReceiptId = String(draft.metadata['policy_receipt_id'])
    const path = pathOf('getPolicyReceipt', { policy_receipt_id: policyReceiptId })
    const eventId = succeeded(await sender.organization.call('GET', path), 200).body['audit_event_id']
    holds(
      await isInEvidence(context, draft, eventId),
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
    if (before.length === 0) throw new NotJudged('no audit event is recognizable in evidence')
    const statement = await receiptStatement(context, recipient, draft, 'received')
    const receipts = pathOf('createPackageReceipt', { package_id: draft.packageId })
    succeeded(await recipient.organization.call('POST', receipts, statement), 201, 'a receipt', ['PKG-08'])
    const after = await ids()
    const kept = after.filter((id) => before.includes(id))
    holds(kept.join(' ') === before.join(' '), 'events of evidence changed their order or disappeared')
    context.note('O-26', `a receipt received leaves ${after.length - kept.length} events`)
  },
}

export const EVIDENCE_CHECKS: readonly Check[] = [secrecy, events, receiptEvent, order]
