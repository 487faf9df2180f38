import { exampleObjects } from '../../objects/examples.ts'
import type { Signature } from '../../schema/shared.ts'
import { MEDIA_TYPE, PROTOCOL_VERSION, SIGNATURE_ALGORITHM } from '../../wire.ts'

/** Shared by all examples: a supplier informs a manufacturer about a late delivery and gets a response. */

const { reasoning_package: sealed, response_object: answer } = exampleObjects

export const SUPPLIER = sealed.created_by
export const MANUFACTURER = answer.created_by
export const THREAD = sealed.thread_id
export const PACKAGE = sealed.id
export const RESPONSE = 'pkg_seat_rails_2'
export const POLICY = sealed.policy_envelope
export const SKILL = { skill_id: 'skill_supply_alignment', skill_version: '1.0.0' }

/** The base URL of examples in a document without a running exchange. */
export const EXAMPLE_EXCHANGE = 'https://exchange.example'

export const TIME = {
  registered: '2026-02-01T09:00:00Z',
  evaluated: '2026-03-02T07:58:00Z',
  receiptAccepted: '2026-03-02T07:59:00.120Z',
  created: sealed.created_at,
  accepted: '2026-03-02T08:00:00.412Z',
  fetched: '2026-03-02T08:00:03.090Z',
  received: '2026-03-02T08:00:04Z',
  receiptRecorded: '2026-03-02T08:00:04.371Z',
  revoked: '2026-03-02T08:30:00Z',
  answered: answer.created_at,
  expires: '2026-03-09T08:00:00Z',
} as const

export const DIGEST = {
  content: 'sha-256=:Yd5jErG1ksvktdWVCtt9aqdibFOZvlrEt8+JKaYq3JY=:',
  policy: 'sha-256=:cW5q3RtMxuuDiiWHM3+Ku2wghBiNY4DXE8Xxfn/BqWY=:',
  asset: 'sha-256=:/OqvdTx47g+TgLCTeHX7zp9dkK74QE6PpXbQcUloi6Y=:',
  artifact: 'sha-256=:L0mZBRNN6T7PEzmOeERlPt9rRlCKs0iVZ3RgbxYwicg=:',
  answer: 'sha-256=:E//gXbRGQv0+JtQ/wgZfuIAmO6UlUKyVAiMUeqC2im4=:',
} as const

export const KEY = {
  supplierSigning: 'sig_2026_02',
  supplierEncryption: 'enc_2026_02',
  supplierNext: 'sig_2026_03',
  manufacturerSigning: 'carmaker_sig_1',
  manufacturerEncryption: 'carmaker_enc_1',
  platform: 'whk_2026_01',
} as const

/** A placeholder with the form of a signature. */
export const SIGNATURE_TEXT =
  '2bFZVWLaYPu7yStavlHZx7kVNw_8R93yKx4Yt15ESTY8QJUNH99J2Ww3PjtiNG5HDAntEIqAcyt0VrLPQMQOYg'

export function signedBy(key_id: string): Signature {
  return { key_id, algorithm: SIGNATURE_ALGORITHM, signature: SIGNATURE_TEXT }
}

/** Valid public keys whose private keys were discarded. */
export const POINT = {
  signing: point(
    'FCbccs3CF4GWDzdG4wU3iJ-3gCYrX-XpXkYw8unHAiQ',
    'odDPnhqi18HRyh92nUibVngEby0aI93oV53tJusz2ao',
  ),
  encryption: point(
    'RlcjGdEaU9HAQMIY3SQ9r-iVsTKc9EVf4pACZP3ZNuQ',
    'P8RDtUTPTnwVU0WFKWtxbJGAaRYc9LSrAx-6xRIPWac',
  ),
  next: point('DgmkZPWyiocykOxoWC32i-OEsC7rMbAbZUhJV3LpW9U', 'fclA3UVBbq9AoH51SBgHRVRzy6htkLfMs398b0Ip6uU'),
  platform: point(
    'u9nvtV68AhZv_QoQjfdoUaRKFqePRm2WgJ1Nf7Awdg8',
    'bqBlXXWxAlYUo3Q-pXeU-PJshv1a3IMRClZVkyACHzY',
  ),
}

function point(x: string, y: string) {
  return { kty: 'EC' as const, crv: 'P-256', x, y }
}

/** The members that metadata and policy receipt share. */
export const ROUTE = {
  package_id: PACKAGE,
  thread_id: THREAD,
  sender_org_id: SUPPLIER.organization_id,
  sender_agent_id: SUPPLIER.agent_id,
  recipient_org_id: MANUFACTURER.organization_id,
  recipient_agent_id: MANUFACTURER.agent_id,
  protocol_version: PROTOCOL_VERSION,
  ...SKILL,
  content_digest: DIGEST.content,
  policy_receipt_id: 'policyreceipt_seat_rails_1',
}

export const CONTENT_TYPE = MEDIA_TYPE.reasoningPackage
