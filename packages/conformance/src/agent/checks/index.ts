import type { Check } from '../../run/check.ts'
import type { AgentContext } from '../agent-context.ts'
import { OPENING_CHECKS } from './opening.ts'
import { REQUEST_CHECKS } from './requests.ts'
import { ROTATION_CHECKS, STREAM_CHECKS } from './stream.ts'
import { WEBHOOK_CHECKS } from './webhooks.ts'

export const AGENT_CHECKS: readonly Check<AgentContext>[] = [
  ...WEBHOOK_CHECKS,
  ...STREAM_CHECKS,
  ...ROTATION_CHECKS,
  ...OPENING_CHECKS,
  ...REQUEST_CHECKS,
]
