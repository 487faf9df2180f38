import type { JsonObject } from '@agent-exchange/protocol'
import type { GatewayOperationId } from './operations.ts'

export interface GatewayExample {
  readonly request?: JsonObject
  readonly answer: JsonObject
  readonly accepted?: JsonObject
}

const ITEM = 'item_5b0c9f9e-2f0a-4a57-9d0a-0d8b7c4f2a11'
const DRAFT = 'draft_0f4c2a5b9d8e7f60112233445566778a'
const TOKEN = 'q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0x1c'
const AT = '2026-03-02T08:00:00.000Z'
const US = { organization_id: 'org_carmaker', agent_id: 'agent_carmaker_supply' }
const THEM = { organization_id: 'org_tier1_seats', agent_id: 'agent_seats_planner' }
const ids = { package_id: 'pkg_seat_rails_1', thread_id: 'thread_seat_rails_w12' }

const draft = {
  draft_id: DRAFT,
  state: 'ready',
  needs_person: false,
  created_at: AT,
  to: THEM,
  object_type: 'response_object',
  policy_id: 'pol_supply_alignment',
  package_id: 'pkg_answer_1',
  thread_id: ids.thread_id,
  responds_to: ids.package_id,
}
const item = {
  item_id: ITEM,
  agent_id: US.agent_id,
  ...ids,
  sequence: 12,
  content_type: 'application/json',
  received_at: AT,
}
const opened = {
  ...ids,
  direction: 'received',
  object: { object_type: 'reasoning_package', id: ids.package_id },
  provenance: {
    from: THEM,
    signature: 'verified',
    forwarding_allowed: false,
    disclosure_level: 'aggregated',
  },
}
const sent = { draft_id: DRAFT, package_id: draft.package_id, thread_id: draft.thread_id }

/** One request and one answer of each operation. */
export const operationExamples: Readonly<Record<GatewayOperationId, GatewayExample>> = {
  createDraft: {
    request: {
      responds_to: ids.package_id,
      policy_id: 'pol_supply_alignment',
      content: { response_actions: ['agree'], response_summary: 'Variant A first.' },
    },
    answer: draft,
  },
  checkDraft: {
    answer: {
      draft,
      passed: true,
      waits_for_person: false,
      checks: [{ check_id: 'schema_valid', passed: true, evaluated: true, failures: [] }],
    },
  },
  sendDraft: {
    request: {},
    answer: { state: 'sent', ...sent },
    accepted: { state: 'waiting_for_person', ...sent },
  },
  revokePackage: {
    request: { reason: 'superseded' },
    answer: { package_id: 'pkg_answer_1', already_revoked: false, future_access_blocked: true },
  },
  listThreads: { answer: { threads: [{ thread_id: ids.thread_id, packages: 2, last_package_at: AT }] } },
  readThread: {
    answer: {
      thread_id: ids.thread_id,
      packages: [
        {
          package_id: ids.package_id,
          state: 'opened',
          from: THEM,
          to: US,
          sent_by_this_agent: false,
          created_at: AT,
          updated_at: AT,
        },
      ],
      truncated: false,
    },
  },
  listPackages: {
    answer: {
      packages: [{ ...ids, direction: 'received', content_type: 'application/json', stored_at: AT }],
    },
  },
  readPackage: { answer: opened },
  readCapsule: { answer: { capsule_version: 2 } },
  leaseItems: {
    request: { wait: 20, max: 5, visibility: 120 },
    answer: { leases: [{ ...item, lease_token: TOKEN, lease_ends_at: AT, attempt: 1, package: opened }] },
  },
  finishLease: { request: { lease_token: TOKEN }, answer: { item_id: ITEM } },
  failLease: {
    request: { lease_token: TOKEN, reason: 'the ledger is closed until Monday' },
    answer: { item_id: ITEM },
  },
  extendLease: {
    request: { lease_token: TOKEN, visibility: 600 },
    answer: { item_id: ITEM, lease_ends_at: AT },
  },
  listSetAside: {
    answer: { items: [{ ...item, attempts: 8, failure: 'the ledger is closed until Monday' }] },
  },
  retrySetAside: { request: {}, answer: { item_id: ITEM } },
}
