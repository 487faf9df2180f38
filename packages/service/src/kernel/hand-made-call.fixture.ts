import { createSecretKey } from 'node:crypto'
import { DEFAULT_PROFILE, type OperationId } from '@agent-exchange/protocol'
import { type Database, inTransaction } from '@agent-exchange/database'
import { systemClock } from '@agent-exchange/server/clock'
import type { AnswerOf, Call, Mutation } from './call.ts'
import type { Context } from './context.ts'
import { randomId } from './ids.ts'

const noPlatformKey = () => Promise.reject(new Error('this test has no platform key'))

/** For tests: a context without platform keys; `changes` adds what the test needs. */
export function handMadeContext(changes: Partial<Context> = {}): Context {
  return {
    profile: DEFAULT_PROFILE,
    clock: systemClock,
    newId: randomId,
    publicUrl: 'https://exchange.example',
    externalIssuer: undefined,
    platform: { sign: noPlatformKey },
    webhookKeys: {
      directory: () => Promise.reject(new Error('this test has no webhook keys')),
      currentKeyId: () => Promise.reject(new Error('this test has no webhook keys')),
    },
    allowPrivateReceivers: false,
    hasSeveralDatabaseHosts: false,
    macKey: createSecretKey(new Uint8Array(32).fill(7)),
    evidenceVersion: () => 2,
    onPackageState: () => undefined,
    ...changes,
  }
}

/** For tests: a call as the HTTP layer passes it on. The caller defaults to org_acme. */
export function handMadeCall<Id extends OperationId>(
  _operation: Id,
  given: Partial<Call<Id>> & Pick<Call<Id>, 'params' | 'body' | 'query'>,
): Call<Id> {
  return {
    caller: { organizationId: 'org_acme', agentId: undefined, clientId: 'client_acme' },
    text: JSON.stringify(given.body ?? ''),
    correlationId: 'corr_test',
    idempotencyKey: 'idem_test',
    now: '2026-03-02T08:00:00.000Z',
    context: handMadeContext(),
    ...given,
  }
}

/** For tests: authorizes and runs a mutation without an idempotency record. */
export async function perform<Id extends OperationId, Found>(
  mutation: Mutation<Id, Found>,
  call: Call<Id>,
  db: Database,
): Promise<AnswerOf<Id>> {
  await mutation.inspect?.(call.body, call.context.profile)
  const found = await mutation.authorize(call, db)
  return inTransaction(db, (tx) => mutation.run(call, tx, found))
}
