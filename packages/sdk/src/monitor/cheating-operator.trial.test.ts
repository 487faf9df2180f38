import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  LOWERING_CODES,
  keyLabel,
  parsePolicy,
  placedText,
  recordLabel,
  type Capsule,
  type EvidenceBundle,
  verifyCapsule,
  verifySplitView,
} from '@agent-exchange/log'
import { capsuleOf, POLICY, TestLog } from '@agent-exchange/testkit'
import { createContext } from '../create-context.ts'
import type { ExchangeError } from '../errors.ts'
import { relinked, wholeThread } from '../evidence/evidence.fixture.ts'
import { readEvidence } from '../evidence/read-evidence.ts'
import { startProxiedWorld } from '../meddling-proxy.fixture.ts'
import { checkLog } from '../log/accept-checkpoint.ts'
import { createMemoryLogState } from '../log-state.ts'
import { monitorLog } from './monitor-log.ts'
import { readEarlierCapsule } from '../evidence/read-earlier-capsule.ts'

const { world, proxy, ...proxied } = await startProxiedWorld({ evidenceVersion: 1 })
after(() => proxied[Symbol.asyncDispose]())
const thread = await wholeThread({ ...world, url: proxy.url })
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const policy = parsePolicy(POLICY)
const honest = await capsuleOf(evidence, { cosigners: 2 })

/** What the operator does with the log, and whoever meets it afterwards. */
class Operator {
  readonly log = new TestLog({ platform: world })
  readonly state = createMemoryLogState()
  readonly agent = createContext({ ...thread.bolt.options, log: this.state })

  static async start(): Promise<Operator> {
    const operator = new Operator()
    await operator.log.log(evidence)
    await operator.log.publish({ cosigners: 2 })
    proxy.before = ({ path }) => operator.log.answer(path)
    return operator
  }
}

/** A stranger with the capsule and a policy: the contradictions that it reads. */
async function stranger(capsule: Capsule): Promise<string> {
  const { contradictions, exitCode } = await verifyCapsule(JSON.parse(JSON.stringify(capsule)), { policy })
  assert.equal(exitCode, 1)
  return contradictions.map(placedText).join('\n')
}

/** The same where nothing contradicts, and the operator's word is all that is left: the verdict. */
async function wary(capsule: Capsule): Promise<string> {
  const { contradictions, exitCode, level, checks } = await verifyCapsule(capsule, { policy })
  assert.deepEqual([contradictions, exitCode, level], [[], 3, 'exchange-word'])
  return checks
    .filter(({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code))
    .map(placedText)
    .join('\n')
}

/** The agent's monitor: its findings. */
async function monitor({ agent }: Operator): Promise<string> {
  const result = await monitorLog(agent, { threads: [thread.threadId], found: [] })
  return (result?.findings ?? []).map(({ sentence }) => sentence).join('\n')
}

/** The agent at its next contact: the error, and what a third party reads in the file that it kept. */
async function nextContact({ agent, state }: Operator): Promise<string> {
  const error = await checkLog(agent).then(
    () => assert.fail('the agent noticed nothing'),
    (failure: ExchangeError) => failure,
  )
  const view = state.splitViews.at(-1)
  const { sentence = '' } = view ? await verifySplitView(view, { policy }) : {}
  return `${error.code}: ${error.message}\n${sentence}`
}

const edited = (change: (bundle: EvidenceBundle) => EvidenceBundle) => relinked(change(evidence))
const withEvidence = (bundle: EvidenceBundle): Capsule => ({ ...honest, ...bundle, format: honest.format })
const moved = (isLast: (kind: string) => boolean) => (kinds: readonly string[]) => {
  const order = kinds.map((_, index) => index)
  return [...order.filter((at) => !isLast(kinds[at] ?? '')), ...order.filter((at) => isLast(kinds[at] ?? ''))]
}
const leafOf = (label: Uint8Array) => Uint8Array.of(...label, ...new Uint8Array(32).fill(1))
function recordLabelAt(firstPosition: number): Uint8Array {
  const [first] = evidence.packages
  assert.ok(first)
  return recordLabel({
    packageId: first.metadata.package_id,
    contentDigest: first.metadata.content_digest,
    receiptSignature: first.policy_receipt.signature.signature,
    firstPosition,
  })
}

/** Records of another thread, as the exchange logs them too. */
const ofOthers: EvidenceBundle = {
  ...evidence,
  thread_id: 'thread_of_others',
  packages: evidence.packages.map((each) => ({
    ...each,
    metadata: { ...each.metadata, package_id: `${each.metadata.package_id}_of_others` },
  })),
}

interface Way {
  readonly way: string
  readonly foundBy: string
  readonly cheat: () => Promise<string>
  readonly says: RegExp
}

const WAYS: readonly Way[] = [
  {
    way: 'rewrites a chain as a whole after it was logged',
    foundBy: 'a stranger, offline',
    cheat: async () => {
      const later = (entry: EvidenceBundle['entries'][number]) => ({
        ...entry,
        proof: { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' },
      })
      return stranger(withEvidence(await edited((all) => ({ ...all, entries: all.entries.map(later) }))))
    },
    says: /The log does not hold the record as the capsule shows it: .* \(pkg_\S+, entry 1\)/u,
  },
  {
    way: 'drops the last entry from the evidence',
    foundBy: 'a stranger, offline',
    cheat: async () => {
      const last = evidence.entries.length
      const dropped = await edited((all) => ({
        ...all,
        entries: all.entries.slice(0, -1),
        packages: all.packages.map((each) => ({
          ...each,
          positions: each.positions.filter((position) => position !== last),
        })),
      }))
      return stranger(withEvidence(dropped))
    },
    says: /A record is missing, or covers other entries: its entries are not in the capsule/u,
  },
  {
    way: 'drops a record that it logged, from everything that it shows',
    foundBy: 'the monitor of the party',
    cheat: async () => {
      const operator = await Operator.start()
      operator.log.leaves.push(leafOf(recordLabelAt(evidence.entries.length + 1)))
      await operator.log.publish()
      return monitor(operator)
    },
    says: /The log holds the record of pkg_\S+ from entry \d+ .* does not show this event: it hides it/u,
  },
  {
    way: 'logs records in another order',
    foundBy: 'a stranger, offline',
    cheat: async () => {
      const swap = (kinds: readonly string[]) => {
        const [first = 0, second = 0] = kinds.flatMap((kind, at) => (kind === 'record' ? [at] : []))
        return kinds.map((_, at) => (at === first ? second : at === second ? first : at))
      }
      return stranger(await capsuleOf(evidence, { cosigners: 2, order: swap }))
    },
    says: /The log holds records in another order than their entries/u,
  },
  {
    way: 'signs two histories and shows each party one',
    foundBy: 'the agent at its next contact, and a third party by the file that it keeps',
    cheat: async () => {
      const operator = await Operator.start()
      await checkLog(operator.agent)
      operator.log.leaves[2] = new Uint8Array(64).fill(66)
      operator.log.leaves.push(new Uint8Array(64).fill(67))
      await operator.log.publish()
      return nextContact(operator)
    },
    says: /^log_split_view: The operator of the exchange signed two histories[^]*\n.*signed two histories that exclude each other: the first \d+ leaves/u,
  },
  {
    way: 'keeps two histories of an event in one log',
    foundBy: 'the monitor of the party',
    cheat: async () => {
      const operator = await Operator.start()
      operator.log.leaves.push(leafOf(recordLabelAt(1)))
      await operator.log.publish()
      return monitor(operator)
    },
    says: /twice, at leaf \d+ and at leaf \d+: the operator keeps two histories/u,
  },
  {
    way: 'backdates a key that entered the log after what it signed',
    foundBy: 'a stranger, offline',
    cheat: async () =>
      stranger(await capsuleOf(evidence, { cosigners: 2, order: moved((kind) => kind === 'registered') })),
    says: /The key entered the log after what it signed: it was backdated/u,
  },
  {
    way: 'hides a revocation from the evidence',
    foundBy: 'a stranger, offline',
    cheat: () => {
      const keys = honest.keys.map((record) => {
        const { invalid_from: _, revoked_at: __, ...key } = record.key
        const events = record.events?.filter(({ kind }) => kind !== 'revoked')
        return { ...record, key: { ...key, status: 'retiring' as const }, ...(events && { events }) }
      })
      return stranger({ ...honest, keys })
    },
    says: /The log says that the key was revoked, and the evidence does not/u,
  },
  {
    way: 'revokes or adds a key behind the back of its owner',
    foundBy: 'the monitor of the owner',
    cheat: async () => {
      const operator = await Operator.start()
      const { agentId } = operator.agent.identity
      const number = operator.log.events.filter(({ event }) => event.agent_id === agentId).length + 1
      operator.log.leaves.push(leafOf(keyLabel({ agentId, number })))
      await operator.log.publish()
      return monitor(operator)
    },
    says: /The log holds key event \d+ of agent_\S+ at leaf \d+, and the exchange does not show this event/u,
  },
  {
    way: 'logs a false key beyond the numbers that the monitor of its owner watches',
    foundBy: 'a stranger, offline',
    cheat: async () => stranger(await capsuleOf(evidence, { cosigners: 2, skippedNumbers: 64 })),
    says: /event \d+ is shown, and 64 of the events before it are left out/u,
  },
  {
    way: 'signs with a revoked key, and claims a time before the revocation',
    foundBy: 'a stranger, offline',
    cheat: async () =>
      wary(await capsuleOf(evidence, { cosigners: 2, order: moved((kind) => kind === 'record') })),
    says: /Whether the key was used before it was revoked\..*of agent_acme/u,
  },
  {
    way: 'records a thread a week later than it claims',
    foundBy: 'a stranger, offline, by the times of the witnesses',
    cheat: async () => {
      const claimed = Date.parse(evidence.entries.at(-1)?.proof.recorded_at ?? '') / 1_000
      const cosignedAt = Math.ceil(claimed) + 7 * 86_400
      return wary(await capsuleOf(evidence, { cosigners: 2, cosignedAt, earlierSize: 8 }))
    },
    says: /Whether the entry was recorded at \d{4}-\S+ witnesses saw the log otherwise .*entry 1\)/u,
  },
  {
    way: 'forges a receipt and logs it',
    foundBy: 'a stranger, offline',
    cheat: async () => {
      const forged = await edited((all) => ({
        ...all,
        entries: all.entries.map((entry) =>
          entry.proof.kind === 'receipt_opened'
            ? { ...entry, proof: { ...entry.proof, receipt_id: 'receipt_forged' } }
            : entry,
        ),
      }))
      return stranger(await capsuleOf(forged, { cosigners: 2 }))
    },
    says: /^The receipt “opened” is not proved by a signature of the recipient: the signature does not fit/mu,
  },
  {
    way: 'replaces the checkpoint by one of another tree',
    foundBy: 'a stranger, offline',
    cheat: async () => {
      const other = await capsuleOf({ ...evidence, keys: evidence.keys.slice(1) }, { cosigners: 2 })
      return stranger({ ...honest, log: { ...honest.log, checkpoint: other.log.checkpoint } })
    },
    says: /its proof has another checkpoint than the capsule/u,
  },
  {
    way: 'restores an old backup',
    foundBy: 'the agent at its next contact',
    cheat: async () => {
      const operator = await Operator.start()
      await checkLog(operator.agent)
      await operator.log.publish({ size: 2 })
      return nextContact(operator)
    },
    says: /^log_rolled_back: The exchange shows a log of size 2, although it signed one of size \d+/u,
  },
  {
    way: 'proves the leaf of another party in place of its own',
    foundBy: 'the party when it collects the capsule, and a stranger, offline',
    cheat: async () => {
      const operator = await Operator.start()
      const [own] = operator.log.records
      assert.ok(own)
      await operator.log.log(ofOthers)
      const foreign = operator.log.records.at(-1)
      assert.ok(foreign && foreign.record.package_id !== own.record.package_id)
      own.index = foreign.index
      await operator.log.publish({ cosigners: 2 })
      const { capsule } = await readEarlierCapsule(operator.agent, { threadId: thread.threadId })
      return stranger(capsule as Capsule)
    },
    says: /The log does not hold the record as the capsule shows it/u,
  },
]

test('[AUD-03] the honest capsule contradicts nothing, in a witnessed log without a finding', async () => {
  const { contradictions, checkpoint } = await verifyCapsule(honest, { policy })
  assert.deepEqual([contradictions, checkpoint?.isQuorumMet], [[], true])
  assert.equal(await monitor(await Operator.start()), '')
})

for (const { way, foundBy, cheat, says } of WAYS)
  test(`[AUD-03] an operator who ${way} is found by ${foundBy}`, async () => {
    assert.match(await cheat(), says)
  })
