import type { Queries, Transaction } from '@agent-exchange/database'

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

/** By digest, without reading the content: the server knows the length of a value that is stored out of line. */
export async function artifactLengths(
  db: Queries,
  digests: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db<{ digest: string; length: number }[]>`
    select digest, octet_length(content) as length from skill_artifact where digest = any(${[...digests]}::text[])`
  return new Map(rows.map(({ digest, length }) => [digest, length]))
}

export interface ArtifactPart {
  readonly digest: string
  readonly offset: number
  readonly bytes: number
}

/** The last part is shorter. */
export async function artifactPart(
  db: Queries,
  { digest, offset, bytes }: ArtifactPart,
): Promise<Uint8Array> {
  const [row] = await db<{ part: Uint8Array }[]>`
    select substring(content from ${offset + 1}::integer for ${bytes}::integer) as part
    from skill_artifact where digest = ${digest}`
  if (!row) throw new Error('an artifact is gone')
  return row.part
}
