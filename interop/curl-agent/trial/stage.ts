import type { Organization, World } from '@agent-exchange/testkit'
import type { Report } from './report.ts'
import type { ShellAgent } from './shell-agent.ts'

/** What the attacks need. */
export interface Stage {
  readonly world: World
  readonly shell: ShellAgent
  readonly peer: Organization
  readonly report: Report
}
