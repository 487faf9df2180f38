import { encodeBase64, encodeBase64url } from '@agent-exchange/crypto'
import {
  appendLeaves,
  cosignNote,
  deriveSalt,
  EMPTY_EDGE,
  encodeBundle,
  formatCheckpoint,
  formatProof,
  formatVerifierKey,
  parseTilePath,
  proveConsistency,
  proveInclusion,
  signNote,
  tilePath,
  TILE_WIDTH,
  tileWidth,
  withSignatures,
  type CapsuleV3,
  type EvidenceBundle,
  type KeyEventProof,
  type NoteSigner,
  type RecordProof,
  type TileName,
} from '@agent-exchange/log'
import { signAsPlatform } from './sign-as-platform.ts'
import type { World } from './test-world.ts'
import { shownLeaves } from './chain-capsule-of.ts'
import { isRegistration, logSigner, plannedKeys, plannedRecords, witnessSigners } from './capsule-of.ts'

const SECRET = new Uint8Array(32).fill(77)
const HASH_LENGTH = 32

export interface LogReply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
}

/** A record as the exchange serves it; `chain` has its positions in version 2. */
interface ServedRecord extends RecordProof {
  readonly chain?: { readonly first_position: number; readonly last_position: number }
}

/**
 * A log with the HTTP of an exchange, whose operator is the test: it can reorder, hide, fork and roll back. It serves
 * what `publish` signed last.
 */
export class TestLog {
  readonly leaves: Uint8Array[] = []
  readonly records: { readonly record: ServedRecord; index: number }[] = []
  readonly events: { readonly event: KeyEventProof; index: number }[] = []
  /** The published note; undefined before the first one. */
  checkpoint: string | undefined
  size = 0
  /** Everything that was published, for the history. */
  readonly published: { readonly size: number; readonly checkpoint: string }[] = []
  readonly signer: NoteSigner
  /** Further keys that sign too, as after a rotation. */
  readonly rotated: NoteSigner[] = []
  readonly #logged = new Set<string>()
  /** Of the published tree, by path. */
  #tiles: ReadonlyMap<string, Uint8Array> = new Map()
  readonly #platform: World | undefined

  /** Agents accept the log key only with a statement of their platform. */
  constructor({ signer = logSigner, platform }: { readonly signer?: NoteSigner; platform?: World } = {}) {
    this.signer = signer
    this.#platform = platform
  }

  /** Logs what the evidence shows and the log does not hold yet: registrations, records, then the end of keys. */
  async log(bundle: EvidenceBundle): Promise<void> {
    const [records, events]: [RecordProof[], KeyEventProof[]] = [[], []]
    const keys = await plannedKeys(bundle, events)
    const planned = [
      ...keys.filter(isRegistration),
      ...plannedRecords(bundle, records),
      ...keys.filter((event) => !isRegistration(event)),
    ]
    for (const { leaf, toProof } of planned) {
      const salt = deriveSalt(SECRET, this.leaves.length)
      const before = { records: records.length, events: events.length }
      toProof({ salt: encodeBase64url(salt), proof: '' })
      const [record, event] = [records[before.records], events[before.events]]
      const name = record
        ? `${record.package_id} ${record.first_position}`
        : `${event?.agent_id} ${event?.number}`
      if (this.#logged.has(name)) continue
      this.#logged.add(name)
      const index = this.leaves.push(leaf(salt)) - 1
      if (record) this.records.push({ record, index })
      if (event) this.events.push({ event, index })
    }
  }

  /** Logs what a capsule of format 3 shows, in its order. */
  logCapsule(capsule: CapsuleV3): void {
    for (const { leaf, record, event } of shownLeaves(capsule)) {
      const salt = deriveSalt(SECRET, this.leaves.length)
      const index = this.leaves.push(leaf(salt)) - 1
      const parts = { salt: encodeBase64url(salt), proof: '' }
      if (record) {
        const { package_id: _, ...chain } = record
        this.records.push({ record: { ...record, ...parts, chain }, index })
      }
      if (event) this.events.push({ event: { ...event, ...parts }, index })
    }
  }

  /** Signs the first `size` leaves, with the cosignatures of some witnesses. */
  async publish({ size = this.leaves.length, cosigners = 0, time = secondsNow() } = {}): Promise<string> {
    const { root, tiles } = appendLeaves(EMPTY_EDGE, this.leaves.slice(0, size))
    this.#tiles = new Map(tiles.map((tile) => [tilePath(tile), tile.bytes]))
    const text = formatCheckpoint({ origin: this.signer.key.name, size, root })
    const note = await signNote(text, [this.signer, ...this.rotated])
    const lines = await Promise.all(
      witnessSigners.slice(0, cosigners).map((witness) => cosignNote(note, witness, time)),
    )
    this.size = size
    this.checkpoint = withSignatures(note, lines)
    this.published.push({ size, checkpoint: this.checkpoint })
    return this.checkpoint
  }

  /** The answer to a request below `/log/`; undefined for other paths. */
  async answer(url: string): Promise<LogReply | undefined> {
    const { pathname, searchParams: query } = new URL(url, 'http://localhost')
    if (!pathname.startsWith('/log/')) return undefined
    const path = pathname.slice('/log/'.length)
    if (path === 'key') return json(await this.#keys())
    if (this.checkpoint === undefined && path === 'checkpoint') return notFound()
    if (path === 'checkpoint')
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: this.checkpoint ?? '' }
    if (path.startsWith('tile/')) return this.#tile(path)
    if (path === 'history') return json(await this.#history())
    if (path === 'records') {
      const own = this.records.filter(({ record }) => record.package_id === query.get('package_id'))
      const shown = own.map(async ({ record, index }) => this.#shown(record, index))
      return json({ checkpoint: this.checkpoint ?? null, records: await Promise.all(shown), ...WHOLE })
    }
    if (path === 'key-events') {
      const own = this.events.filter(({ event }) => event.agent_id === query.get('agent_id'))
      const shown = own.map(async ({ event, index }) => this.#shown(event, index))
      return json({ checkpoint: this.checkpoint ?? null, events: await Promise.all(shown), ...WHOLE })
    }
    return notFound()
  }

  async #keys(): Promise<object> {
    const keys = [this.signer, ...this.rotated].map(({ key }) => formatVerifierKey(key))
    const named = { origin: this.signer.key.name, verifier_keys: keys }
    const statement = { purpose: 'aex-log-key', ...named, issued_at: '2026-01-01T00:00:00.000Z' }
    const signature = this.#platform && (await signAsPlatform(this.#platform, statement))
    return { ...named, witnesses: [], ...(signature && { statement: { ...statement, signature } }) }
  }

  async #history(): Promise<object> {
    const earlier = this.published.filter(({ size }) => size < this.size)
    const history = earlier.map(async ({ size, checkpoint }) => {
      const proof = await proveConsistency(size, this.size, (name) => this.#hashes(name))
      return { checkpoint, consistency: proof.map(encodeBase64) }
    })
    return { checkpoint: this.checkpoint, history: await Promise.all(history) }
  }

  async #shown(leaf: RecordProof | KeyEventProof, index: number): Promise<object> {
    const { proof: _, salt, ...rest } = leaf
    if (index >= this.size || this.checkpoint === undefined) return { ...rest, pending: true }
    const hashes = await proveInclusion(index, this.size, (name) => this.#hashes(name))
    return { ...rest, salt, index, proof: formatProof({ index, hashes, checkpoint: this.checkpoint }) }
  }

  #tile(path: string): LogReply {
    const name = parseTilePath(path)
    const width = tileWidth(name, this.size)
    // As tlog-tiles allows, a partial tile is gone once the full one is there.
    if (name.width !== width) return notFound()
    const at = name.index * TILE_WIDTH
    const body =
      name.level === 'entries' ? encodeBundle(this.leaves.slice(at, at + width)) : this.#hashes(name)
    return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body }
  }

  #hashes(name: TileName): Uint8Array {
    const tile = this.#tiles.get(tilePath({ ...name, width: tileWidth(name, this.size) }))
    return (tile ?? new Uint8Array()).subarray(0, name.width * HASH_LENGTH)
  }
}

const secondsNow = () => Math.floor(Date.now() / 1_000)

const WHOLE = { next_cursor: null, has_more: false }

function json(value: object): LogReply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

function notFound(): LogReply {
  return { status: 404, headers: { 'content-type': 'text/plain' }, body: '' }
}
