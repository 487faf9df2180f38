import assert from 'node:assert/strict'
import { signPolicyReceipt } from '@agent-exchange/crypto'
import {
  chainLinks,
  formatVerifierKey,
  type CapsulePackage,
  type CapsuleRecord,
  type CapsuleV3,
  type EarlierCheckpoint,
  type KeyEventProof,
  type PackageHead,
} from '@agent-exchange/log'
import { signAsPlatform, type TestLog } from '@agent-exchange/testkit'
import type { CheatingExchange } from './cheating-exchange.fixture.ts'
import { edited, entryIn, packageIn } from './cheating-way.fixture.ts'

/** The entries up to the first receipt of the recipient, which the second history leaves out. */
export const KEPT_ENTRIES = 4

/**
 * The sender of a package signs its policy receipt a second time, and the operator keeps a second history under it, without
 * the receipts of the recipient. Not logged yet.
 */
export async function secondHistory({ thread, capsule }: CheatingExchange): Promise<CapsuleV3> {
  const [opened] = capsule.packages
  assert.ok(opened)
  const { signature, ...receipt } = opened.policy_receipt
  const key = await thread.acme.keys.privateKey(signature.key_id)
  const again = await signPolicyReceipt(receipt, { key, keyId: signature.key_id })
  return edited(capsule, (c) => {
    const shown = packageIn(c, 0)
    shown.policy_receipt.signature = again
    entryIn(c, 0, 1).proof['signature'] = again
    shown.entries.splice(KEPT_ENTRIES)
    shown.records = shown.records.filter(({ last_position }) => last_position <= KEPT_ENTRIES)
    c.packages = [shown]
    c.log.key_events = []
  })
}

/** What the operator shows of one history of a package, from the log that holds both. */
export async function capsuleFrom(
  { world, capsule }: CheatingExchange,
  log: TestLog,
  shown: CapsulePackage,
  isOwn: (index: number) => boolean,
): Promise<CapsuleV3> {
  const answer = async <T>(path: string) => JSON.parse(String((await log.answer(path))?.body)) as T
  const { package_id } = shown.metadata
  const { records } = await answer<{ records: (CapsuleRecord & { chain: object; index: number })[] }>(
    `/log/records?package_id=${package_id}`,
  )
  const key_events: KeyEventProof[] = []
  for (const agentId of new Set(capsule.log.key_events.map(({ agent_id }) => agent_id))) {
    const page = await answer<{ events: (KeyEventProof & { index: number })[] }>(
      `/log/key-events?agent_id=${agentId}`,
    )
    for (const logged of page.events) {
      const { index: _, ...event } = logged
      key_events.push(event)
    }
  }
  const { history } = await answer<{ history: EarlierCheckpoint[] }>('/log/history?index=0')
  const own = records
    .filter(({ index }) => isOwn(index))
    .map(({ first_position, last_position, salt, proof }) => ({ first_position, last_position, salt, proof }))
  const { head: stated, ...rest } = shown
  assert.ok(stated)
  const head = await headAt(world, stated, { shown, position: shown.entries.length, log })
  return {
    ...capsule,
    packages: [{ ...rest, records: own, head }],
    log: { key: formatVerifierKey(log.signer.key), checkpoint: log.checkpoint ?? '', key_events, history },
  }
}

/** The exchange signs where a history ends. */
export async function headAt(
  world: CheatingExchange['world'],
  { signature, ...stated }: PackageHead,
  {
    shown,
    position,
    log,
  }: { readonly shown: CapsulePackage; readonly position: number; readonly log: TestLog },
): Promise<PackageHead> {
  const { links = [] } = chainLinks(shown)
  const link = Buffer.from(links[position] ?? []).toString('hex')
  const head = { ...stated, position, link, log: { origin: log.signer.key.name, size: log.size } }
  return { ...head, signature: { ...signature, ...(await signAsPlatform(world, head)) } }
}
