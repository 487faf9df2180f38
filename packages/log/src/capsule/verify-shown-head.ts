import type { PublicKey } from '@agent-exchange/crypto'
import { toHex } from '../bytes.ts'
import { isSigned } from '../evidence/package-case.ts'
import type { CapsulePackage } from './capsule-v3-format.ts'
import type { Checks } from '../verdict/check.ts'
import { verifyPackageHead } from './package-head.ts'
import type { EntryLeaves } from './verify-chain-records.ts'

interface HeadCase {
  readonly links: readonly Uint8Array[]
  readonly leaves: EntryLeaves
  readonly origin: string
  /** The platform's key that the signature names. */
  readonly key: PublicKey | undefined
}

/** What the exchange stated about the end of the chain agrees with what is shown. */
export async function verifyShownHead(
  { metadata, head }: CapsulePackage,
  { links, leaves, origin, key }: HeadCase,
  checks: Checks,
): Promise<void> {
  if (!head) return
  const { package_id, thread_id } = metadata
  const about = { package_id, position: head.position }
  const isSubject =
    head.package_id === package_id && head.thread_id === thread_id && head.log.origin === origin
  checks.check('head_subject', isSubject, about)
  checks.check(
    'head_signature',
    key !== undefined && (await isSigned((publicKey) => verifyPackageHead(head, publicKey), key)),
    {
      ...about,
      key_id: head.signature.key_id,
    },
  )
  const link = links[head.position]
  checks.check('head_link', link !== undefined && head.position > 0 && toHex(link) === head.link, about)
  const denied = [...leaves].find(([position, index]) => position > head.position && index < head.log.size)
  if (denied) checks.fails('head_false', { package_id, position: denied[0], values: { index: denied[1] } })
}
