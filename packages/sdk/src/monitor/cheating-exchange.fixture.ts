import assert from 'node:assert/strict'
import {
  bodyHash,
  chainRecordLabel,
  chainStart,
  entryBody,
  identityOf,
  nextLink,
  type CapsulePackage,
  type CapsuleV3,
} from '@agent-exchange/log'
import type { EvidenceEntry, HiddenEvidenceEntry, PackageEvidence } from '@agent-exchange/protocol'
import { QUICK_LOG, TestLog } from '@agent-exchange/testkit'
import { createContext } from '../create-context.ts'
import { rotateKey } from '../agent-keys/rotate-key.ts'
import { wholeThread, type WholeThread } from '../evidence/evidence.fixture.ts'
import {
  changed,
  startProxiedWorld,
  type MeddlingProxy,
  type ProxiedWorld,
} from '../meddling-proxy.fixture.ts'
import { createMemoryLogState } from '../log-state.ts'
import { monitorLog } from './monitor-log.ts'
import type { MonitorState } from './monitor-state.ts'
import { readCapsule } from '../evidence/read-capsule.ts'

/** A real exchange behind a proxy, a thread in which everything happened, and the capsule of its recipient. */
export interface CheatingExchange extends ProxiedWorld {
  readonly thread: WholeThread
  readonly capsule: CapsuleV3
  /** The packages of the thread: opened and answered, the answer, and the revoked one. */
  readonly packages: readonly [opened: CapsulePackage, answer: CapsulePackage, revoked: CapsulePackage]
}

export async function startCheatingExchange(): Promise<CheatingExchange> {
  const proxied = await startProxiedWorld({ profile: QUICK_LOG, config: { role: 'all' } })
  const thread = await wholeThread({ ...proxied.world, url: proxied.proxy.url })
  // A key event after the revocation: the revocation is not the last one.
  await rotateKey(thread.acme, 'encryption')
  const { capsule } = await readCapsule(thread.bolt, { threadId: thread.threadId })
  assert.ok(capsule.format === 'aex-evidence/3')
  const [opened, answer, revoked] = capsule.packages
  assert.ok(opened && answer && revoked)
  return { ...proxied, thread, capsule, packages: [opened, answer, revoked] }
}

/** The log of an operator who cheats, and an agent that meets it. The log holds what the capsule shows. */
export class Operator {
  readonly log: TestLog
  readonly proxy: MeddlingProxy
  readonly state = createMemoryLogState()
  readonly threadId: string
  agent: ReturnType<typeof createContext>

  constructor({ world, proxy, thread, capsule }: CheatingExchange, logged = capsule) {
    this.log = new TestLog({ platform: world })
    this.log.logCapsule(logged)
    this.proxy = proxy
    this.threadId = thread.threadId
    this.agent = createContext({ ...thread.bolt.options, log: this.state })
    proxy.before = ({ path }) => this.log.answer(path)
    proxy.after = (_, reply) => reply
  }

  get nothingKnown(): MonitorState {
    return { threads: [this.threadId], found: [] }
  }

  /** Publishes what is there and lets the agent's monitor scan it. */
  async scan(state = this.nothingKnown) {
    await this.log.publish({ cosigners: 2 })
    const result = await monitorLog(this.agent, state)
    assert.ok(result)
    return { ...result, kinds: result.findings.map(({ kind }) => kind) }
  }

  /** Moves the clock of the agent. */
  advance(minutes: number): void {
    const { now } = this.agent
    this.agent = { ...this.agent, now: () => new Date(now().getTime() + minutes * 60_000) }
  }

  /** Appends a leaf with the label of a record, whatever it holds. */
  appendRecord(shown: CapsulePackage, firstPosition: number): void {
    this.appendLeaf(chainRecordLabel({ ...identityOf(shown), firstPosition }))
  }

  appendLeaf(label: Uint8Array): void {
    this.log.leaves.push(Uint8Array.of(...label, ...new Uint8Array(32).fill(1)))
  }

  /** Hides an entry of a package, and its record, from everything that the exchange shows. */
  hide(shown: CapsulePackage, position: number): void {
    this.show(shown, (all) => all.filter(({ chain }) => chain?.position !== position))
    const at = this.log.records.findIndex(
      ({ record }) =>
        record.package_id === shown.metadata.package_id && record.chain?.first_position === position,
    )
    this.log.records.splice(at, 1)
  }

  /** Changes what the exchange shows of a package. */
  show({ metadata: { package_id } }: CapsulePackage, change: (entries: AnyEntry[]) => AnyEntry[]): void {
    this.proxy.after = ({ path }, reply) => {
      if (!path.startsWith(`/v1/audit/packages/${package_id}`)) return reply
      return changed(reply, (body) => {
        const page = body as unknown as PackageEvidence
        const entries = change([...page.entries, ...(page.hidden_entries ?? [])])
        return {
          ...page,
          entries: entries.filter((entry) => 'proof' in entry),
          hidden_entries: entries.filter((entry) => !('proof' in entry)),
        }
      })
    }
  }
}

type AnyEntry = EvidenceEntry | HiddenEvidenceEntry

/** The same entries, recorded years before, with right hashes. */
export function rewritten(shown: CapsulePackage, entries: readonly AnyEntry[]): AnyEntry[] {
  let link = chainStart({ ...identityOf(shown), threadId: shown.metadata.thread_id })
  return entries.map((entry, index): AnyEntry => {
    assert.ok('proof' in entry && entry.chain)
    const proof = { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' }
    const previous_hash = Buffer.from(link).toString('hex')
    const hash = bodyHash(entryBody({ event: entry.event, proof }))
    link = nextLink(link, { position: index + 1, kind: proof.kind, visibility: 'both', bodyHash: hash })
    return {
      ...entry,
      proof,
      chain: { ...entry.chain, previous_hash, hash: Buffer.from(link).toString('hex') },
    }
  })
}

/** The placeholder that stands for an entry which only the other organization may see. */
export function concealed(entry: AnyEntry): AnyEntry {
  if (!('proof' in entry) || !entry.chain) return entry
  const body_hash = Buffer.from(bodyHash(entryBody({ event: entry.event, proof: entry.proof }))).toString(
    'hex',
  )
  const chain = { ...entry.chain, visibility: 'one' as const, body_hash }
  return { position: entry.position, kind: entry.proof.kind, chain }
}
