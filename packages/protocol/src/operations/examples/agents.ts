import type { AgentRegistration, AgentResource } from '../../resources/agents.ts'
import type {
  KeyDirectory,
  KeyRevocationRequest,
  NotificationKeyDirectory,
  PublicKey,
  PublicKeyRequest,
} from '../../resources/keys.ts'
import { PROTOCOL_VERSION } from '../../wire.ts'
import { KEY, POINT, SKILL, SUPPLIER, TIME } from './story.ts'

const signingKey: PublicKeyRequest = {
  key_id: KEY.supplierSigning,
  use: 'signing',
  format: 'jwk',
  public_key: POINT.signing,
  valid_from: TIME.registered,
}
const encryptionKey: PublicKeyRequest = {
  ...signingKey,
  key_id: KEY.supplierEncryption,
  use: 'encryption',
  public_key: POINT.encryption,
}
const active = { status: 'active', registered_at: '2026-02-01T09:00:00.250Z' }

export const registration: AgentRegistration = {
  ...SUPPLIER,
  implementation: 'seats-planner',
  implementation_version: '2.3.0',
  protocol_versions: [PROTOCOL_VERSION],
  skill_versions: { [SKILL.skill_id]: SKILL.skill_version },
  transport_modes: ['native', 'ds_x'],
  keys: [signingKey, encryptionKey],
}

const registeredKeys: PublicKey[] = [
  { ...signingKey, ...active },
  { ...encryptionKey, ...active },
]

export const agent: AgentResource = {
  ...registration,
  keys: registeredKeys,
  ...active,
  certification_status: 'uncertified',
}

export const newKey: PublicKeyRequest = {
  ...signingKey,
  key_id: KEY.supplierNext,
  public_key: POINT.next,
  valid_from: '2026-03-20T00:00:00Z',
  replaces_key_id: KEY.supplierSigning,
}
export const registeredKey: PublicKey = {
  ...newKey,
  status: 'active',
  registered_at: '2026-03-19T14:00:00.030Z',
}

export const keyRevocation: KeyRevocationRequest = {
  invalid_from: '2026-04-01T00:00:00Z',
  reason_code: 'key_compromise',
  evidence_reference: 'incident 2026-17',
}
export const revokedKey: PublicKey = {
  ...registeredKey,
  status: 'revoked',
  revoked_at: '2026-04-02T06:12:44.900Z',
  invalid_from: keyRevocation.invalid_from,
}

export const directory: KeyDirectory = {
  directory_version: '2',
  generated_at: TIME.created,
  ...SUPPLIER,
  keys: registeredKeys,
}

export const platformKeys: NotificationKeyDirectory = {
  directory_version: '1',
  generated_at: TIME.created,
  keys: [
    {
      key_id: KEY.platform,
      use: 'signing',
      format: 'jwk',
      public_key: POINT.platform,
      valid_from: '2026-01-01T00:00:00Z',
      valid_until: '2027-01-01T00:00:00Z',
      status: 'active',
      registered_at: '2025-12-29T00:00:00Z',
    },
  ],
}
