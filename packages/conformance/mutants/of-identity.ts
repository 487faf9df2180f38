import { accepts, bodies, type Mutant, requests } from './mutant.ts'

type Members = Readonly<Record<string, unknown>>
const list = (value: unknown) => (Array.isArray(value) ? (value as Members[]) : [])

export const IDENTITY_MUTANTS: readonly Mutant[] = [
  {
    id: 'ID-01',
    does: 'registers agents in any organization',
    mutate: accepts(['registerAgent'], ['not_permitted', 'resource_not_found']),
  },
  {
    id: 'ID-02',
    does: 'takes any transport mode',
    mutate: accepts(['registerAgent'], ['validation_failed']),
  },
  {
    id: 'ID-03',
    does: 'lets a key replace itself',
    mutate: accepts(['registerAgentKey'], ['key_not_distinct', 'identifier_conflict']),
  },
  {
    id: 'ID-04',
    does: 'moves invalid_from of a revoked key',
    mutate: bodies(['getAgentKeys'], (body) => ({
      ...body,
      keys: list(body['keys']).map((key) => ({ ...key, invalid_from: '2030-01-01T00:00:00Z' })),
    })),
  },
  {
    id: 'ID-05',
    does: 'takes signatures by any key',
    mutate: accepts(
      ['createPackageTransfer', 'createPolicyReceipt'],
      ['signing_key_unusable', 'signature_invalid'],
    ),
  },
  {
    id: 'ID-05',
    does: 'takes receipts by any key',
    mutate: accepts(['createPackageReceipt'], ['signing_key_unusable', 'signature_invalid']),
  },
  {
    id: 'ID-06',
    does: 'takes private keys',
    mutate: accepts(['registerAgentKey'], ['private_key_refused', 'validation_failed']),
  },
  {
    id: 'ID-06',
    does: 'takes points off the curve',
    mutate: accepts(['registerAgentKey'], ['public_key_invalid']),
  },
  {
    id: 'ID-07',
    does: 'forgets revoked keys',
    mutate: bodies(['getAgentKeys'], (body) => ({
      ...body,
      keys: list(body['keys']).filter(({ status }) => status === 'active'),
    })),
  },
  {
    id: 'ID-08',
    does: 'publishes no active webhook key',
    mutate: bodies(['getNotificationSigningKeys'], (body) => ({
      ...body,
      keys: list(body['keys']).map((key) => ({ ...key, status: 'retired' })),
    })),
  },
  {
    id: 'ID-08',
    does: 'forgets revoked webhook keys',
    mutate: bodies(['getNotificationSigningKeys'], (body) => ({
      ...body,
      keys: list(body['keys']).filter(({ status }) => status !== 'revoked'),
    })),
    check: 'webhooks/revoked-key',
  },
  {
    id: 'ID-09',
    does: 'lists releases for every protocol version',
    mutate: requests((request) => ({ ...request, url: request.url.replace(/protocol_version=[^&]*/u, '') })),
  },
  {
    id: 'ID-10',
    does: 'names another digest than that of the artifact',
    mutate: bodies(['listSkillReleases'], (body) => ({
      ...body,
      items: list(body['items']).map((item) => ({
        ...item,
        artifact_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
      })),
    })),
  },
  {
    id: 'POL-01',
    does: 'does not verify policy receipts',
    mutate: accepts(['createPolicyReceipt'], ['signature_invalid'], { signature_status: 'verified' }),
  },
  {
    id: 'POL-02',
    does: 'takes any list of checks',
    mutate: accepts(['createPolicyReceipt'], ['validation_failed']),
  },
  {
    id: 'POL-03',
    does: 'calls every receipt eligible',
    mutate: bodies(['createPolicyReceipt'], (body) => ({ ...body, package_authorization: 'eligible' })),
  },
  {
    id: 'POL-03',
    does: 'takes packages with an ineligible receipt',
    mutate: accepts(['createPackageTransfer'], ['policy_receipt_ineligible']),
  },
  {
    id: 'POL-04',
    does: 'needs no receipt',
    mutate: accepts(['createPackageTransfer'], ['policy_receipt_missing']),
  },
  {
    id: 'POL-04',
    does: 'takes a receipt of another package',
    mutate: accepts(['createPackageTransfer'], ['policy_receipt_mismatch']),
  },
  {
    id: 'POL-05',
    does: 'shows receipts to everybody',
    mutate: accepts(['getPolicyReceipt'], ['resource_not_found']),
  },
]
