import type { Check } from '../../run/check.ts'
import { AGENT_CHECKS } from './agents.ts'
import { AUTHENTICATION_CHECKS } from './authentication.ts'
import { CONNECTOR_CHECKS } from './connectors.ts'
import { ENVELOPE_CHECKS } from './envelopes.ts'
import { EVIDENCE_CHECKS } from './evidence.ts'
import { HEADER_CHECKS } from './headers.ts'
import { IDEMPOTENCY_CHECKS } from './idempotency.ts'
import { OPERATION_CHECKS } from './operations.ts'
import { PACKAGE_CHECKS } from './packages.ts'
import { POLICY_RECEIPT_CHECKS } from './policy-receipts.ts'
import { PROBLEM_CHECKS } from './problems.ts'
import { RESPONSE_CHECKS } from './responses.ts'
import { RESTART_CHECKS } from './restart.ts'
import { SKILL_CHECKS } from './skills.ts'
import { STREAM_CHECKS } from './streams.ts'
import { ATTEMPT_CHECKS } from './webhook-attempts.ts'
import { RESULT_CHECKS } from './webhook-results.ts'
import { WEBHOOK_CHECKS } from './webhooks.ts'

/** Every check of a service, in the order of a run. */
export const SERVICE_CHECKS: readonly Check[] = [
  ...OPERATION_CHECKS,
  ...HEADER_CHECKS,
  ...IDEMPOTENCY_CHECKS,
  ...AUTHENTICATION_CHECKS,
  ...AGENT_CHECKS,
  ...SKILL_CHECKS,
  ...POLICY_RECEIPT_CHECKS,
  ...ENVELOPE_CHECKS,
  ...PACKAGE_CHECKS,
  ...RESPONSE_CHECKS,
  ...STREAM_CHECKS,
  ...EVIDENCE_CHECKS,
  ...CONNECTOR_CHECKS,
  ...RESTART_CHECKS,
  ...WEBHOOK_CHECKS,
  ...RESULT_CHECKS,
  ...ATTEMPT_CHECKS,
  ...PROBLEM_CHECKS,
]
