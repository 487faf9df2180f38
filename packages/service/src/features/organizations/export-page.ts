import type { Database } from '@agent-exchange/database'
import type { Context } from '../../kernel/context.ts'

export interface ExportRequest {
  readonly db: Database
  readonly organizationId: string
  /** Position inside the section; undefined at its start. */
  readonly after: string | undefined
  readonly context: Context
  readonly now: string
}

export interface ExportPage {
  readonly records: readonly object[]
  /** Undefined at the end of the section. */
  readonly next: string | undefined
}
