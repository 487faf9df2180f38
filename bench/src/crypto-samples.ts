import * as aex from '@agent-exchange/crypto'

/** Plaintext for which the whole envelope text comes to about 12 KB. */
const PLAINTEXT_BYTES = 5_900

/** Keys and messages of the sizes that the service meets. */
export async function cryptoSamples() {
  const signing = await aex.generateKeyPair('signing')
  const sender = await aex.generateKeyPair('encryption')
  const recipient = await aex.generateKeyPair('encryption')
  const seal = {
    sender: { kid: 'key_sender', publicKey: sender.publicKey },
    recipient: { kid: 'key_recipient', publicKey: recipient.publicKey },
  }
  const plaintext = crypto.getRandomValues(new Uint8Array(PLAINTEXT_BYTES))
  const jwe = await aex.sealPackage(plaintext, seal)
  const digest = await aex.sealedContentDigest(jwe)
  const envelope = JSON.stringify(
    await aex.signEnvelope(
      { metadata: metadata(digest), jwe },
      { key: signing.privateKey, kid: 'key_signing' },
    ),
  )
  const receipt = policyReceipt(digest)
  const signature = await aex.signPolicyReceipt(receipt, { key: signing.privateKey, keyId: 'key_signing' })
  return {
    signing,
    seal,
    plaintext,
    jwe,
    own: { kid: 'key_recipient', privateKey: recipient.privateKey },
    envelope,
    receipt: { ...receipt, signature },
  }
}

const PARTIES = {
  package_id: 'pkg_00000000000000000000000000000001',
  thread_id: 'thread_00000000000000000000000000000001',
  sender_org_id: 'org_sender',
  sender_agent_id: 'agent_sender',
  recipient_org_id: 'org_recipient',
  recipient_agent_id: 'agent_recipient',
  protocol_version: 'svc/1.0',
  skill_id: 'skill_demand_change',
  skill_version: '1.0.0',
}
const TIME = '2026-01-01T00:00:00Z'

function metadata(content_digest: string) {
  return {
    ...PARTIES,
    schema_version: '1.0.0',
    created_at: TIME,
    expires_at: '2026-02-01T00:00:00Z',
    content_type: 'application/svc.reasoning-package+json',
    content_digest,
    transport_mode: 'native',
    policy_receipt_id: 'prcpt_00000000000000000000000000000001',
  }
}

function policyReceipt(content_digest: string) {
  const checks = [
    'object_schema',
    'skill_profile',
    'prohibited_disclosure',
    'recipient_authorization',
    'retention_and_forwarding',
  ]
  return {
    ...PARTIES,
    policy_receipt_id: 'prcpt_00000000000000000000000000000001',
    receipt_version: '1.0.0',
    content_digest,
    policy_id: 'pol_00000000000000000000000000000001',
    policy_schema_version: '1.0.0',
    policy_digest: content_digest,
    checks: checks.map((check_id) => ({ check_id, outcome: 'passed' })),
    human_approval: { required: true, outcome: 'approved', approval_reference: 'apr_1', approved_at: TIME },
    evaluated_at: TIME,
    statement: 'The sender evaluated the named policy and all five checks passed.',
  }
}
