import { formatVerifierKey, type PolicyWitness, type VerifierKey } from '@agent-exchange/log'
import type { Context } from '../../kernel/context.ts'

/** The log's key and witnesses, with a statement by the platform's statement key, which agents have pinned. */
export async function describeLogKey(
  { platform, clock }: Pick<Context, 'platform' | 'clock'>,
  { key, witnesses }: { key: VerifierKey; witnesses: readonly PolicyWitness[] },
) {
  const named = { origin: key.name, verifier_keys: [formatVerifierKey(key)] }
  const statement = { purpose: 'aex-log-key', ...named, issued_at: clock.now() }
  return {
    ...named,
    statement: { ...statement, signature: await platform.sign(statement, 'signature') },
    witnesses: witnesses.map((witness) => formatVerifierKey(witness.key)),
  }
}
