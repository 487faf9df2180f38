import { verifyPackageStatement, type StatementForm } from '@agent-exchange/crypto'
import type { EntryCase } from './entry-case.ts'
import type { RingKey } from './key-ring.ts'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature } from './package-case.ts'

export interface Statement {
  /** What is proved, by the key that signed where that is known. */
  readonly what: (key?: RingKey) => string
  /** The body as it was signed, `signature` among its members. */
  readonly body: Readonly<Record<string, unknown>>
  /** Keys that may have signed it, in the order in which they are tried. */
  readonly keys: readonly RingKey[]
  /** The time that the statement names. */
  readonly saidAt: string
  /** Whether the key has to have counted at that time too, and not only at arrival. */
  readonly isDatedByClaim: boolean
}

/** Who signed, and whether the signature names the package. */
export interface Signed {
  readonly key: RingKey
  readonly form: StatementForm
}

/** PKG-08, PKG-10: a receipt or a revocation that its entry carries in full. Undefined where it does not hold. */
export async function verifyStatementEntry(
  subject: EntryCase,
  { what, body, keys, saidAt, isDatedByClaim }: Statement,
): Promise<Signed | undefined> {
  const { entry, packageId, register } = subject
  const { position, proof } = entry.value
  const arrivedAt = entry.textAt('proof/accepted_at') ?? proof.recorded_at
  const copied = register.use(entry)
  if (copied !== undefined) return refuse(subject, what(), copied)
  let form: StatementForm | undefined
  for (const key of keys) {
    const holds = await isSigned(async ({ publicKey }) => {
      form = await verifyPackageStatement(body, { packageId, publicKey })
    }, key)
    if (!holds || form === undefined) continue
    const claimedAt = isDatedByClaim ? saidAt : undefined
    const verdict = judgeKey(key, { claimedAt, arrivedAt })
    const unbound = form === 'plain' ? '; the signature does not name the package' : ''
    const detail = `${verdict.detail}; dated ${saidAt}, arrived ${arrivedAt}${unbound}`
    const isValid = reportSignature(
      subject,
      what(key),
      true,
      { ...verdict, detail },
      { signer: key.signer, position },
    )
    if (!isValid) return undefined
    entry.cover(...Object.keys(body).map((name) => `proof/${name}`), 'proof/kind')
    entry.expectIfPresent('proof/signature_form', form)
    return { key, form }
  }
  return refuse(subject, what(), 'the signature does not cover this statement about this package')
}

export function refuse({ findings, packageId, entry }: EntryCase, what: string, detail: string): undefined {
  findings.check(what, false, detail, { packageId, position: entry.value.position })
  return undefined
}

/** The signed members of an entry, as they were sent. */
export function bodyOf({ entry }: EntryCase, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (entry.has(`proof/${name}`) ? [[name, entry.at(`proof/${name}`)]] : [])),
  )
}
