import { CryptoError, decodeBase64url } from '@agent-exchange/crypto'
import {
  chainLinks,
  chainRecordLabel,
  chainRecordLeaf,
  identityOf,
  LogError,
  type Check,
  type PackageIdentity,
} from '@agent-exchange/log'
import type { PackageEvidence, LoggedRecord } from '@agent-exchange/protocol'
import { toPackage } from '../evidence/collect-chains.ts'
import type { MonitorFinding } from './label-scan.ts'
import { shownAt, toHex, type Watched } from './watched.ts'

/** The chain of a package as the exchange shows it. */
interface Chain {
  readonly identity: PackageIdentity
  /** By position; undefined where the entries are no chain. */
  readonly links: readonly Uint8Array[] | undefined
  readonly findings: readonly MonitorFinding[]
}

/** Whether a package is of version 2 of the evidence. */
export function isChained({ entries }: PackageEvidence): boolean {
  return entries.some(({ chain }) => chain !== undefined)
}

export function shownChain(evidence: PackageEvidence): Chain {
  const shown = toPackage(evidence)
  const { links, faults } = chainLinks(shown)
  return {
    identity: identityOf(shown),
    links,
    findings: faults.map((fault) => findingOf(evidence.package_id, fault)),
  }
}

function findingOf(packageId: string, { code, position, values }: Check): MonitorFinding {
  if (code === 'chain_visibility')
    return {
      kind: 'concealed',
      sentence: `The exchange hides entry ${position} of ${packageId}, a ${values?.['kind']}, which both parties may see.`,
    }
  return {
    kind: 'entry_gap',
    sentence: `The exchange shows the entries of ${packageId} without entry ${position}.`,
  }
}

interface Watching {
  /** The last position whose label is watched. */
  readonly end: number
  readonly labels: Map<string, Watched>
}

/** Labels of all positions of a package, with the leaves of the records that the exchange shows. */
export function watchChain(
  { identity, links }: Chain,
  records: readonly LoggedRecord[],
  { end, labels }: Watching,
): void {
  const last = (links?.length ?? 1) - 1
  const shown = new Map<number, LoggedRecord>()
  const recorded = new Set<number>()
  for (const record of records) {
    const { first_position: from = 0, last_position: to = 0 } = record.chain ?? {}
    // The leaf of a record whose entries are not shown is that of a hidden event.
    if (to > last) continue
    shown.set(from, record)
    for (let position = from; position <= to; position++) recorded.add(position)
  }
  for (let firstPosition = 1; firstPosition <= end; firstPosition++) {
    // An entry without a record waits for its leaf like one whose record is pending.
    const isWaiting = firstPosition <= last && !recorded.has(firstPosition)
    const record = shown.get(firstPosition)
    const leaf = record && links && leafOf(identity, record, links)
    labels.set(toHex(chainRecordLabel({ ...identity, firstPosition })), {
      what: `the record of ${identity.packageId} from its entry ${firstPosition} on`,
      subject: identity.packageId,
      number: firstPosition,
      ...shownAt(record ?? (isWaiting ? {} : undefined)),
      ...(leaf && { leaf }),
    })
  }
}

/** Empty where what the exchange shows can be no leaf. */
function leafOf(
  identity: PackageIdentity,
  { chain, salt }: LoggedRecord,
  links: readonly Uint8Array[],
): Uint8Array | undefined {
  const [linkBefore, lastLink] = [links[(chain?.first_position ?? 0) - 1], links[chain?.last_position ?? 0]]
  if (!chain || salt === undefined || !linkBefore || !lastLink) return undefined
  const { first_position: firstPosition, last_position: lastPosition } = chain
  try {
    const record = { ...identity, firstPosition, lastPosition, linkBefore, lastLink }
    return chainRecordLeaf(record, decodeBase64url(salt))
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return new Uint8Array()
    throw error
  }
}
