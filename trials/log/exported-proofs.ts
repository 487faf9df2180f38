import assert from 'node:assert/strict'
import { decodeBase64url } from '@agent-exchange/crypto'
import {
  chainLinks,
  chainRecordLeaf,
  identityOf,
  leafOfShownEvent,
  parseProof,
  type CapsuleV3,
  type KeyEventProof,
} from '@agent-exchange/log'
import type { Organization } from '@agent-exchange/testkit'
import { readCapsule } from '../../packages/sdk/src/evidence/read-capsule.ts'
import { wholeThread } from '../../packages/sdk/src/evidence/evidence.fixture.ts'
import { alteredProofs, flipped } from './altered-proofs.ts'
import { askTorchwood, requireAccepted, type Question } from './ask-torchwood.ts'
import { isPublished, statusWhen } from './log-under-trial.ts'
import { readEntries, type WitnessedLog } from './witnessed-log.ts'

interface ProvedLeaf extends Question {
  readonly leaf: Uint8Array
}

/** Proofs of all records and key events that a party can read, with the leaves that the log publishes. */
export async function provedByExchange(log: WitnessedLog): Promise<ProvedLeaf[]> {
  const { size } = await statusWhen(log.exchange, isPublished)
  const entries = await readEntries(log.exchange, size)
  const [seats, cars] = log.parties
  const threads = new Set(log.ledger.map(({ draft }) => draft.metadata.thread_id))
  const agents = [seats.agentId, cars.agentId, 'agent_platform']
  const pages = [
    ...[...threads].map((thread) => `/log/records?thread_id=${thread}`),
    ...agents.map((agent) => `/log/key-events?agent_id=${agent}`),
  ]
  const proofs: string[] = []
  for (const page of pages) proofs.push(...(await readProofs(seats, page)))
  return proofs.map((text) => ({ leaf: entries[parseProof(text).index] ?? new Uint8Array(), text }))
}

async function readProofs(party: Organization, path: string): Promise<string[]> {
  const proofs: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body, text } = await party.get(cursor ? `${path}&after=${cursor}` : path)
    assert.equal(status, 200, text)
    const items = (body['records'] ?? body['events']) as { proof?: string }[]
    for (const { proof } of items) proofs.push(proof ?? assert.fail('a published leaf has no proof'))
    cursor = body['next_cursor'] as string | null
  }
  return proofs
}

/** Proofs of a capsule of a thread in which everything happened. Its leaves are computed from its content. */
export async function provedByCapsule(log: WitnessedLog): Promise<ProvedLeaf[]> {
  const { acme, threadId } = await wholeThread(log.exchange)
  const { capsule, pending } = await readCapsule(acme, { threadId })
  assert.equal(pending.length, 0)
  assert.ok(capsule.format === 'aex-evidence/3')
  return [...recordLeaves(capsule), ...capsule.log.key_events.map(keyEventLeaf)]
}

function recordLeaves({ packages }: CapsuleV3): ProvedLeaf[] {
  return packages.flatMap((shown) => {
    const { links = [] } = chainLinks(shown)
    return shown.records.map(({ first_position, last_position, salt, proof }) => {
      const [linkBefore, lastLink] = [links[first_position - 1], links[last_position]]
      assert.ok(linkBefore && lastLink)
      const record = {
        ...identityOf(shown),
        firstPosition: first_position,
        lastPosition: last_position,
        linkBefore,
        lastLink,
      }
      return { leaf: chainRecordLeaf(record, decodeBase64url(salt)), text: proof }
    })
  })
}

const keyEventLeaf = (event: KeyEventProof): ProvedLeaf => ({
  leaf: leafOfShownEvent(event),
  text: event.proof,
})

/** torchwood accepts every proof, and none after any change. */
export function judgeProofs({ judges, policyFile }: WitnessedLog, proved: readonly ProvedLeaf[]): string {
  requireAccepted(judges, policyFile, proved)
  const altered = proved.flatMap(({ leaf, text }, at) => [
    { what: 'leaf', leaf: flipped(leaf), text },
    { what: 'proof of another leaf', leaf, text: proved.at(at - 1)?.text ?? '' },
    ...Object.entries(alteredProofs(text)).map(([what, changed]) => ({ what, leaf, text: changed })),
  ])
  const verdicts = askTorchwood(judges, policyFile, altered)
  const missed = altered.filter((_, at) => verdicts[at] === 'accepted').map(({ what }) => what)
  assert.deepEqual(missed, [])
  return `${proved.length} proofs accepted, ${altered.length} altered ones refused`
}
