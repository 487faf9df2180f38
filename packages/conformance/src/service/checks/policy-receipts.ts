import { sha256Digest } from '@agent-exchange/crypto'
import type { Check } from '../../run/check.ts'
import { holds, refused, same, succeeded } from '../../run/expect.ts'
import { CHECK_IDS, draftPackage, send, sendPackage } from '../draft.ts'
import { pathOf } from '../operations.ts'

const passed = CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' }))

const signature: Check = {
  name: 'policy-receipts/signature',
  ids: ['POL-01'],
  title: 'a policy receipt that was altered after signing is refused',
  async run(context) {
    const { sender, recipient } = context
    const { receipt } = await draftPackage(context, sender, recipient)
    const { call } = sender.organization
    refused(
      await call('POST', '/v1/policy-receipts', { ...receipt, statement: 'Another one.' }),
      'an altered receipt',
    )
    const accepted = succeeded(await call('POST', '/v1/policy-receipts', receipt), 201, 'a valid receipt')
    same(accepted.body['signature_status'], 'verified', 'signature_status')
    same(accepted.body['package_authorization'], 'eligible', 'package_authorization')
    same(accepted.body['receipt'], receipt, 'the receipt in the answer')
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
      if (answer.status === 201)
        holds(answer.body['package_authorization'] !== 'eligible', `a receipt with ${what} is eligible`, [
          'POL-03',
        ])
      else refused(answer, `a receipt with ${what}`)
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
    const later = new Date(Date.parse(context.now()) + 30_000).toISOString()
    const wrong = {
      package_id: context.newId('pkg'),
      thread_id: context.newId('thread'),
      recipient_org_id: outsider.organization.organizationId,
      recipient_agent_id: outsider.agentId,
      skill_id: 'skill_other',
      skill_version: '9.9.9',
      content_digest: await sha256Digest(new TextEncoder().encode('other')),
      evaluated_at: later,
    }
    for (const [member, value] of Object.entries(wrong)) {
      const draft = await draftPackage(context, sender, recipient, { receipt: { [member]: value } })
      refused(await send(sender, draft), `a package whose receipt has another ${member}`)
    }
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
