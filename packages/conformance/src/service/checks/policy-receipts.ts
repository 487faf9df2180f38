import { sha256Digest } from '@agent-exchange/crypto'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { holds, isTaken, refused, same, succeeded } from '../../run/expect.ts'
import type { Answer } from '../../wire/wire.ts'
import { registerAgent } from '../agent.ts'
import { CHECK_IDS, draftPackage, send, sendPackage } from '../draft.ts'
import { pathOf } from '../operations.ts'

const HOUR_MS = 3_600_000
const passed = CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' }))

/** A receipt without a right signature is refused, or kept with another status than `verified` (O-34). */
export function requireUnverified({ note }: Context, answer: Answer, what: string): void {
  if (!isTaken(answer, 201, what)) return
  const { signature_status: status } = answer.body
  holds(status !== 'verified', `${what} is verified`)
  note('O-34', `${what}: ${String(status)}`)
}

const signature: Check = {
  name: 'policy-receipts/signature',
  ids: ['POL-01'],
  title: 'a policy receipt that was altered after signing is not verified',
  async run(context) {
    const { sender, recipient } = context
    const { receipt } = await draftPackage(context, sender, recipient)
    const { call } = sender.organization
    const altered = await call('POST', '/v1/policy-receipts', { ...receipt, statement: 'Another one.' })
    requireUnverified(context, altered, 'an altered policy receipt')
    const { receipt: valid } = await draftPackage(context, sender, recipient)
    const accepted = succeeded(await call('POST', '/v1/policy-receipts', valid), 201, 'a valid receipt')
    same(accepted.body['signature_status'], 'verified', 'signature_status')
    same(accepted.body['package_authorization'], 'eligible', 'package_authorization')
    same(accepted.body['receipt'], valid, 'the receipt in the answer')
  },
}

const checks: Check = {
  name: 'policy-receipts/five-checks',
  ids: ['POL-02'],
  title: 'a receipt has each of the five checks once: fewer, more, others and repeated ones are refused',
  async run(context) {
    const { sender, recipient } = context
    const wrong = {
      'four checks': passed.slice(1),
      'a sixth check': [...passed, { check_id: 'weather', outcome: 'passed' }],
      'an unknown check': [...passed.slice(1), { check_id: 'weather', outcome: 'passed' }],
      'a repeated check': [...passed.slice(1), ...passed.slice(1, 2)],
    }
    for (const [what, list] of Object.entries(wrong)) {
      const { receipt } = await draftPackage(context, sender, recipient, { receipt: { checks: list } })
      refused(
        await sender.organization.call('POST', '/v1/policy-receipts', receipt),
        `a receipt with ${what}`,
      )
    }
  },
}

const eligibility: Check = {
  name: 'policy-receipts/eligibility',
  ids: ['POL-03', 'POL-04'],
  title: 'a failed check or a missing approval authorizes no package',
  async run(context) {
    const { sender, recipient } = context
    const [first] = passed
    const wrong = {
      'a failed check': { checks: [{ ...first, outcome: 'failed' }, ...passed.slice(1)] },
      'a required approval that was denied': {
        human_approval: {
          required: true,
          outcome: 'denied',
          approval_reference: 'approval_1',
          approved_at: context.now(),
        },
      },
    }
    for (const [what, receipt] of Object.entries(wrong)) {
      const draft = await draftPackage(context, sender, recipient, { receipt })
      const answer = await sender.organization.call('POST', '/v1/policy-receipts', draft.receipt)
      if (isTaken(answer, 201, `a receipt with ${what}`))
        holds(answer.body['package_authorization'] !== 'eligible', `a receipt with ${what} is eligible`, [
          'POL-03',
        ])
      context.note(
        'O-34',
        `a receipt with ${what}: ${answer.status} ${String(answer.body['package_authorization'])}`,
      )
      refused(await sendPackage(sender, draft), `a package whose receipt has ${what}`)
    }
  },
}

const binding: Check = {
  name: 'policy-receipts/binding',
  ids: ['POL-04'],
  title: 'a package is refused without its receipt, and with one that differs or is later',
  async run(context) {
    const { sender, recipient, outsider } = context
    const missing = await draftPackage(context, sender, recipient)
    refused(await sendPackage(sender, missing), 'a package without a policy receipt')
    const wrong = {
      package_id: context.newId('pkg'),
      thread_id: context.newId('thread'),
      protocol_version: 'svc/0.9',
      recipient_org_id: outsider.organization.organizationId,
      recipient_agent_id: outsider.agentId,
      skill_id: 'skill_other',
      skill_version: '9.9.9',
      content_digest: await sha256Digest(new TextEncoder().encode('other')),
    }
    for (const [member, value] of Object.entries(wrong)) {
      const draft = await draftPackage(context, sender, recipient, { receipt: { [member]: value } })
      refused(await send(sender, draft), `a package whose receipt has another ${member}`)
    }
    const colleague = await registerAgent(sender.organization, context.newId)
    const ofColleague = await draftPackage(context, sender, recipient, {
      receipt: { sender_agent_id: colleague.agentId },
      receiptSignedBy: colleague.signing,
    })
    refused(await send(sender, ofColleague), 'a package whose receipt is that of another sending agent')
    // An hour is beyond any tolerance for the difference of clocks (O-49).
    const at = (offset: number) => new Date(Date.parse(context.now()) + offset).toISOString()
    const evaluatedLater = await draftPackage(context, sender, recipient, {
      metadata: { created_at: at(-HOUR_MS), expires_at: at(HOUR_MS) },
      receipt: { evaluated_at: context.now() },
    })
    refused(await send(sender, evaluatedLater), 'a package whose receipt is an hour later than its creation')
  },
}

const readers: Check = {
  name: 'policy-receipts/readers',
  ids: ['POL-05', 'AUTH-03'],
  title: 'a receipt is read by its sender, by the recipient of its package, and by no third organization',
  async run(context) {
    const { sender, recipient, outsider } = context
    const draft = await draftPackage(context, sender, recipient)
    const { call } = sender.organization
    succeeded(await call('POST', '/v1/policy-receipts', draft.receipt), 201)
    const path = pathOf('getPolicyReceipt', {
      policy_receipt_id: String(draft.metadata['policy_receipt_id']),
    })
    // POL-05 follows from the role matrix, which is an open point.
    const early = await recipient.organization.call('GET', path)
    context.note('O-09', `a recipient that reads a receipt before its package: ${early.status}`)
    succeeded(await sendPackage(sender, draft), 202)
    succeeded(await call('GET', path), 200, 'the sender')
    succeeded(await recipient.organization.call('GET', path), 200, 'the recipient of the package')
    refused(await outsider.organization.call('GET', path), 'an organization that is no party')
  },
}

export const POLICY_RECEIPT_CHECKS: readonly Check[] = [signature, checks, eligibility, binding, readers]
