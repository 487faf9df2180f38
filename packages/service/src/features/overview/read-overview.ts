import type { Database } from '@agent-exchange/database'
import type { Context } from '../../kernel/context.ts'
import { findIssues, type Issue } from './find-issues.ts'
import { readFacts, type Facts } from './overview-facts.ts'

export interface Overview extends Facts {
  readonly status: 'healthy' | 'degraded' | 'failing'
  readonly issues: readonly Issue[]
}

/** Everything on one look, the same from every process. */
export async function readOverview(
  db: Database,
  context: Pick<Context, 'profile' | 'hasSeveralDatabaseHosts'>,
  now: string,
): Promise<Overview> {
  const facts = await readFacts(db, context, now)
  const issues = findIssues(facts)
  const status = issues.length === 0 ? 'healthy' : issues[0]?.severity === 'bad' ? 'failing' : 'degraded'
  return { status, issues, ...facts }
}
