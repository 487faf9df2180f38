import assert from 'node:assert/strict'
import { approveDraft } from '@agent-exchange/sdk/internal/node'
import type { TestAgent } from './agents.fixture.ts'
import type { TestClient } from './clients.fixture.ts'

export const PASSPHRASE = 'correct horse battery staple'
/** A cheap key derivation, for tests alone. */
export const QUICK = { n: 1_024, r: 8, p: 1 } as const

export interface Drafted {
  readonly draft_id: string
  readonly package_id: string
  readonly thread_id: string
  readonly state: string
  readonly needs_person: boolean
}

interface Sent {
  readonly status: string
  readonly package_id: string
  readonly next_step?: string
}

/** Content of a reasoning package: what a model writes. */
export function reasoning(summary: string): Record<string, unknown> {
  return {
    package_type: 'demand_change_reasoning',
    business_context: {
      domain: 'supply',
      use_case: 'demand_change',
      time_horizon: 'weeks 12 to 14',
      affected_scope: {},
    },
    facts: [
      {
        fact_id: 'fact_1',
        statement: 'A coil delivery moved.',
        evidence_refs: ['ev_1'],
        sensitivity: 'confidential',
      },
    ],
    reasoning: { summary, drivers: ['a late delivery'], known_unknowns: [] },
    confidence: { score: 0.7, basis: 'the carrier confirmed it' },
    intent: { sender_action: 'We ship in week 13.', recipient_request: 'Accept week 13?' },
    response_required: {
      required: true,
      deadline: new Date(Date.now() + 86_400_000).toISOString(),
      expected_response_types: ['agree', 'challenge'],
    },
  }
}

/** A person at the desk: the only place where the passphrase is known. */
export async function approve(
  { dir, agent }: TestAgent,
  draftId: string,
  decision: 'approved' | 'declined' = 'approved',
) {
  const { digest } = await agent.drafts.get(draftId)
  await approveDraft({
    folder: dir,
    draftId,
    digest,
    decision,
    passphrase: PASSPHRASE,
    name: 'Ada Example',
    reason: 'The week is public.',
  })
}

/**
 * The whole story by tools alone: one model sends under a policy that needs a person, another one reads, answers, and
 * both follow, prove and revoke.
 */
export async function tellStory(
  acme: TestAgent & { readonly mcp: TestClient },
  bolt: TestAgent & { readonly mcp: TestClient },
): Promise<void> {
  const described = await acme.mcp.result<{ policies: { policy_id: string; needs_person: boolean }[] }>(
    'describe_agent',
  )
  assert.deepEqual(
    described.policies.map(({ policy_id, needs_person }) => [policy_id, needs_person]),
    [
      ['pol_free', false],
      ['pol_guarded', true],
    ],
  )
  const draft = await acme.mcp.result<Drafted>('draft_package', {
    to: bolt.agent.identity.agentId,
    object_type: 'reasoning_package',
    policy_id: 'pol_guarded',
    content: reasoning('Rails are short in week 12.'),
  })
  assert.deepEqual([draft.state, draft.needs_person], ['waiting', true])
  const checked = await acme.mcp.result<{ passed: boolean; waits_for_person: boolean; checks: unknown[] }>(
    'check_draft',
    { draft_id: draft.draft_id },
  )
  assert.deepEqual([checked.passed, checked.waits_for_person, checked.checks.length], [true, true, 5])
  const { draft_id } = draft
  const waiting = await acme.mcp.result<Sent>('send_draft', { draft_id })
  assert.equal(waiting.status, 'waiting_for_person')
  assert.match(waiting.next_step ?? '', /agent desk --dir /u)

  await approve(acme, draft_id)
  const sent = await acme.mcp.result<Sent>('send_draft', { draft_id })
  assert.deepEqual([sent.status, sent.package_id], ['sent', draft.package_id])

  const inbox = await bolt.mcp.result<{ events: { package_id: string; event_id: string }[] }>('list_inbox')
  const event = inbox.events.find(({ package_id }) => package_id === sent.package_id)
  assert.ok(event)
  const read = await bolt.mcp.result<{
    provenance: { from: { agent_id: string } }
    untrusted: { object: { reasoning: { summary: string } } }
  }>('read_package', { package_id: sent.package_id })
  assert.equal(read.provenance.from.agent_id, acme.agent.identity.agentId)
  assert.equal(read.untrusted.object.reasoning.summary, 'Rails are short in week 12.')
  const { policyReceipt } = await bolt.agent.open(sent.package_id, { receipts: 'none' })
  const { required, outcome } = policyReceipt.receipt.human_approval
  assert.deepEqual([required, outcome], [true, 'approved'])

  const answer = await bolt.mcp.result<Drafted>('answer_package', {
    package_id: sent.package_id,
    policy_id: 'pol_free',
    content: { response_actions: ['agree'], response_summary: 'Week 13 is fine.' },
  })
  assert.equal(answer.state, 'ready')
  const answered = await bolt.mcp.result<Sent>('send_draft', { draft_id: answer.draft_id })
  assert.equal(answered.status, 'sent')
  await bolt.mcp.result('finish_event', { event_id: event.event_id })

  const followed = await acme.mcp.result<{ packages: { state: string; responds_to?: string }[] }>(
    'follow_thread',
    { thread_id: draft.thread_id, wait_seconds: 5 },
  )
  assert.deepEqual(
    followed.packages.map(({ state, responds_to }) => [state, responds_to]),
    [
      ['responded', undefined],
      ['encrypted_available', sent.package_id],
    ],
  )
  const proof = await acme.mcp.result<{ outcome: string; contradictions: string[] }>('verify_capsule', {
    thread_id: draft.thread_id,
  })
  assert.deepEqual([proof.outcome, proof.contradictions], ['below', []])

  const revoked = await bolt.mcp.result<{ future_access_blocked: boolean }>('revoke_package', {
    package_id: answered.package_id,
    reason: 'superseded',
  })
  assert.equal(revoked.future_access_blocked, true)
  assert.match(
    await acme.mcp.failure('read_package', { package_id: answered.package_id }),
    /content_unavailable/u,
  )
}
