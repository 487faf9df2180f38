import type { Queries } from '@agent-exchange/database'
import type { EvidenceVersion } from '../../kernel/context.ts'

/** This file owns the table evidence_version, which has one row. */
export async function readEvidenceVersion(queries: Queries): Promise<EvidenceVersion> {
  const [row] = await queries<{ version: EvidenceVersion }[]>`select version from evidence_version`
  return row?.version ?? 1
}
