import type { Queries, Transaction } from '../../db/database.ts'

/** Tables skill_release and skill_artifact. */
export interface ReleaseRow {
  /** Ascending in order of publication. */
  readonly position: number
  readonly protocol_range: string
  /** JSON text: the signed release. */
  readonly body: string
}

export async function findRelease(
  db: Queries,
  skillId: string,
  version: string,
): Promise<ReleaseRow | undefined> {
  const [row] = await db<ReleaseRow[]>`
    select position, protocol_range, body from skill_release
    where skill_id = ${skillId} and version = ${version}`
  return row
}

export async function releasesAfter(db: Queries, position: number, limit: number): Promise<ReleaseRow[]> {
  return db<ReleaseRow[]>`
    select position, protocol_range, body from skill_release
    where position > ${position} order by position limit ${limit}`
}

export interface NewRelease {
  readonly skillId: string
  readonly version: string
  readonly protocolRange: string
  readonly body: string
  readonly artifactDigest: string
  readonly now: string
}

/** False if that version exists; a release is never replaced. */
export async function insertRelease(tx: Transaction, release: NewRelease): Promise<boolean> {
  // Serializes publishers, so that positions become visible in order and a cursor misses none.
  await tx`lock table skill_release in share row exclusive mode`
  const rows = await tx`
    insert into skill_release (skill_id, version, protocol_range, body, artifact_digest, published_at)
    values (${release.skillId}, ${release.version}, ${release.protocolRange}, ${release.body},
      ${release.artifactDigest}, ${release.now})
    on conflict (skill_id, version) do nothing returning position`
  return rows.length > 0
}

/** Content-addressed: equal artifacts are stored once. */
export async function insertArtifact(
  tx: Transaction,
  { digest, content, now }: { digest: string; content: Uint8Array; now: string },
): Promise<void> {
  await tx`
    insert into skill_artifact (digest, content, stored_at)
    values (${digest}, ${Buffer.from(content)}, ${now})
    on conflict (digest) do nothing`
}

export async function findArtifact(db: Queries, digest: string): Promise<Uint8Array | undefined> {
  const [row] = await db<{ content: Uint8Array }[]>`
    select content from skill_artifact where digest = ${digest}`
  return row?.content
}
