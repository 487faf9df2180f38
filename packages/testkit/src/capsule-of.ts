import { canonicalBytes, encodeBase64url, jwkThumbprint, type PublicJwk } from '@agent-exchange/crypto'
import {
  appendLeaves,
  CAPSULE_FORMAT,
  cosignNote,
  deriveSalt,
  EMPTY_EDGE,
  formatCheckpoint,
  formatProof,
  formatVerifierKey,
  keyLeaf,
  noteSigner,
  proveConsistency,
  proveInclusion,
  recordLeaf,
  signNote,
  SIGNATURE_TYPE,
  tilePath,
  tileWidth,
  withSignatures,
  type Capsule,
  type EvidenceBundle,
  type KeyEventProof,
  type NoteSigner,
  type RecordProof,
  type TileName,
} from '@agent-exchange/log'

const ORIGIN = 'exchange.example/log'
const SECRET = new Uint8Array(32).fill(42)
const seed = (byte: number) => new Uint8Array(32).fill(byte)

export const logSigner: NoteSigner = await noteSigner(ORIGIN, SIGNATURE_TYPE.ed25519, seed(1))
export const witnessSigners: readonly NoteSigner[] = await Promise.all(
  [2, 3, 4].map((byte) => noteSigner(`witness${byte}.example`, SIGNATURE_TYPE.cosignature, seed(byte))),
)

/** Two of three witnesses. */
export const POLICY = [
  `log ${formatVerifierKey(logSigner.key)}`,
  ...witnessSigners.map(({ key }, index) => `witness w${index} ${formatVerifierKey(key)}`),
  'group two 2 w0 w1 w2',
  'quorum two',
  '',
].join('\n')

/** One leaf that is to be logged, and how its proof gets into the capsule. */
interface Planned {
  readonly leaf: (salt: Uint8Array) => Uint8Array
  readonly toProof: (parts: { salt: string; proof: string }) => void
}

export interface LogPlan {
  readonly signer?: NoteSigner
  /**
   * Cosignatures on the checkpoint: how many witnesses, and when the first of them cosigned; a minute after the last
   * entry by default.
   */
  readonly cosigners?: number
  readonly cosignedAt?: number
  /** Changes the order in which leaves are appended. */
  readonly order?: (kinds: readonly string[]) => readonly number[]
  /** Size of an earlier checkpoint, and how many seconds before it was cosigned; 1,000 by default. */
  readonly earlierSize?: number
  readonly earlierBy?: number
  /** How many numbers the key events of each agent leave out, from 1 on. */
  readonly skippedNumbers?: number
}

/** Logs everything that the evidence shows, as an exchange does: registrations, records, then the end of keys. */
export async function capsuleOf(bundle: EvidenceBundle, plan: LogPlan = {}): Promise<Capsule> {
  const records: RecordProof[] = []
  const keyEvents: KeyEventProof[] = []
  const keys = await plannedKeys(bundle, keyEvents, plan.skippedNumbers)
  const planned: (Planned & { readonly kind: string })[] = [
    ...keys.filter(isRegistration),
    ...plannedRecords(bundle, records),
    ...keys.filter((event) => !isRegistration(event)),
  ]
  const order = plan.order?.(planned.map(({ kind }) => kind)) ?? planned.map((_, index) => index)
  const salts = planned.map((_, offset) => deriveSalt(SECRET, offset))
  // Leaves of others lie between ours.
  const leaves = order.flatMap((at) => [
    planned[at]?.leaf(salts[at] as Uint8Array) ?? new Uint8Array(),
    canonicalBytes({ other: at }),
  ])
  const log = await signedLogOf(leaves, { cosignedAt: secondsAfter(bundle), ...plan })
  for (const [place, at] of order.entries()) {
    const proof = formatProof({
      index: 2 * place,
      hashes: await proveInclusion(2 * place, leaves.length, log.readTile),
      checkpoint: log.checkpoint,
    })
    planned[at]?.toProof({ salt: encodeBase64url(salts[at] as Uint8Array), proof })
  }
  const { signer = logSigner } = plan
  return {
    ...bundle,
    format: CAPSULE_FORMAT,
    log: {
      key: formatVerifierKey(signer.key),
      checkpoint: log.checkpoint,
      records,
      key_events: keyEvents,
      ...(log.history.length > 0 && { history: log.history }),
    },
  }
}

export async function plannedKeys({ keys }: EvidenceBundle, proofs: KeyEventProof[], skippedNumbers = 0) {
  const numbers = new Map<string, number>()
  const events = keys.flatMap((record) =>
    (record.events ?? [{ kind: 'registered', recorded_at: record.key.registered_at, details: {} }]).map(
      (event) => ({
        record,
        event,
      }),
    ),
  )
  const inOrder = [
    ...events.filter(({ event }) => event.kind === 'registered'),
    ...events.filter(({ event }) => event.kind !== 'registered'),
  ]
  return Promise.all(
    inOrder.map(async ({ record: { organization_id, agent_id, key }, event }) => {
      const number = (numbers.get(agent_id) ?? skippedNumbers) + 1
      numbers.set(agent_id, number)
      const invalidFrom = Reflect.get(event.details, 'invalid_from') as string | undefined
      const shown = {
        organization_id,
        agent_id,
        number,
        key_id: key.key_id,
        kind: event.kind,
        use: key.use,
        thumbprint: await jwkThumbprint(key.public_key as PublicJwk),
        valid_from: key.valid_from,
        recorded_at: event.recorded_at,
        ...(invalidFrom !== undefined && { invalid_from: invalidFrom }),
      }
      return {
        kind: event.kind,
        leaf: (salt: Uint8Array) =>
          keyLeaf(
            {
              organizationId: organization_id,
              agentId: agent_id,
              number,
              keyId: shown.key_id,
              kind: shown.kind,
              use: shown.use,
              thumbprint: shown.thumbprint,
              validFrom: shown.valid_from,
              recordedAt: shown.recorded_at,
              invalidFrom,
            },
            salt,
          ),
        toProof: (parts: { salt: string; proof: string }) => void proofs.push({ ...shown, ...parts }),
      }
    }),
  )
}

/** Entries about one package that follow each other are one record, as the exchange writes them. */
export function plannedRecords({ thread_id, entries, packages }: EvidenceBundle, proofs: RecordProof[]) {
  const owners = new Map(
    packages.flatMap((each) => each.positions.map((position) => [position, each] as const)),
  )
  const runs: EvidenceBundle['entries'][number][][] = []
  for (const entry of entries) {
    const run = runs.at(-1)
    const before = run?.at(-1)
    if (run && before && owners.get(before.position) === owners.get(entry.position)) run.push(entry)
    else runs.push([entry])
  }
  return runs.map((run) => {
    const [first, last] = [run[0], run.at(-1)]
    const owner = first && owners.get(first.position)
    if (!first || !last || !owner) throw new Error('an entry of no package')
    const { package_id, content_digest } = owner.metadata
    const record = {
      packageId: package_id,
      contentDigest: content_digest,
      receiptSignature: owner.policy_receipt.signature.signature,
      threadId: thread_id,
      firstPosition: first.position,
      lastPosition: last.position,
      previousHash: first.proof.previous_hash,
      entryHashes: run.map(({ proof }) => proof.hash),
    }
    return {
      kind: 'record',
      leaf: (salt: Uint8Array) => recordLeaf(record, salt),
      toProof: (parts: { salt: string; proof: string }) =>
        void proofs.push({
          package_id,
          first_position: first.position,
          last_position: last.position,
          ...parts,
        }),
    }
  })
}

/** A minute after the last entry, in seconds since 1970. */
function secondsAfter({ entries }: EvidenceBundle): number {
  return Math.ceil(Date.parse(entries.at(-1)?.proof.recorded_at ?? '') / 1_000) + 60
}

/** A log of these leaves, with the earlier checkpoint of the plan. */
export async function signedLogOf(
  leaves: readonly Uint8Array[],
  plan: LogPlan & { readonly cosignedAt: number },
) {
  const { earlierSize, cosignedAt, earlierBy = 1_000 } = plan
  const { root, tiles } = appendLeaves(EMPTY_EDGE, leaves)
  const stored = new Map(tiles.map((tile) => [tilePath(tile), tile.bytes]))
  const readTile = (name: TileName) => {
    const width = tileWidth(name, leaves.length)
    return (stored.get(tilePath({ ...name, width })) as Uint8Array).slice(0, name.width * 32)
  }
  const checkpoint = await checkpointOf({ size: leaves.length, root }, plan, cosignedAt)
  if (earlierSize === undefined) return { checkpoint, readTile, history: [] }
  const earlier = appendLeaves(EMPTY_EDGE, leaves.slice(0, earlierSize)).root
  const hashes = await proveConsistency(earlierSize, leaves.length, readTile)
  const history = [
    {
      checkpoint: await checkpointOf({ size: earlierSize, root: earlier }, plan, cosignedAt - earlierBy),
      consistency: hashes.map((hash) => Buffer.from(hash).toString('base64')),
    },
  ]
  return { checkpoint, readTile, history }
}

async function checkpointOf(
  head: { size: number; root: Uint8Array },
  { signer = logSigner, cosigners = 0 }: LogPlan,
  time: number,
): Promise<string> {
  const note = await signNote(formatCheckpoint({ origin: ORIGIN, ...head }), [signer])
  const lines = await Promise.all(
    witnessSigners.slice(0, cosigners).map((witness, index) => cosignNote(note, witness, time + index)),
  )
  return withSignatures(note, lines)
}

export function isRegistration({ kind }: { readonly kind: string }): boolean {
  return kind === 'registered'
}
