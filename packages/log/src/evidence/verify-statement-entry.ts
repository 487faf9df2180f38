import { verifyPackageStatement, type StatementForm } from '@agent-exchange/crypto'
import type { CheckValues } from '../verdict/check.ts'
import type { EntryCase } from './entry-case.ts'
import type { RingKey } from './key-ring.ts'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature } from './package-case.ts'

export interface Statement {
  readonly code: 'receipt_signature' | 'revocation_signature'
  /** What else the check says, by the key that signed. */
  readonly values: (key: RingKey) => CheckValues
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
  { code, values, body, keys, saidAt, isDatedByClaim }: Statement,
): Promise<Signed | undefined> {
  const { entry, packageId, register } = subject
  const { position, proof } = entry.value
  const arrivedAt = entry.textAt('proof/accepted_at') ?? proof.recorded_at
  const stated = typeof body['state'] === 'string' ? { state: body['state'] } : {}
  if (register.isCopied(entry)) return refuse(subject, code, { fault: 'signature_copied', ...stated })
  let form: StatementForm | undefined
  for (const key of keys) {
    const holds = await isSigned(async ({ publicKey }) => {
      form = await verifyPackageStatement(body, { packageId, publicKey })
    }, key)
    if (!holds || form === undefined) continue
    const claimedAt = isDatedByClaim ? saidAt : undefined
    const verdict = judgeKey(key, { claimedAt, arrivedAt })
    const dated = { said_at: saidAt, arrived_at: arrivedAt, form, ...values(key) }
    const isValid = reportSignature(subject, { code, holds, verdict, key, position, values: dated })
    if (!isValid) return undefined
    entry.cover(...Object.keys(body).map((name) => `proof/${name}`), 'proof/kind')
    entry.expectIfPresent('proof/signature_form', form)
    return { key, form }
  }
  return refuse(subject, code, { fault: 'signature_mismatch', ...stated })
}

export function refuse(
  { checks, packageId, entry }: EntryCase,
  code: Statement['code'],
  values: CheckValues,
  agentId = '',
): undefined {
  const about = { package_id: packageId, position: entry.value.position }
  checks.fails(code, { ...about, ...(agentId !== '' && { agent_id: agentId }), values })
  return undefined
}

/** The signed members of an entry, as they were sent. */
export function bodyOf({ entry }: EntryCase, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (entry.has(`proof/${name}`) ? [[name, entry.at(`proof/${name}`)]] : [])),
  )
}
