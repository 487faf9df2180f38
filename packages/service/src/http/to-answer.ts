import { operations, type OperationId } from '@agent-exchange/protocol'
import type { RecordedAnswer } from '../kernel/idempotency-records.ts'

/** Encodes a resource as the answer of a successful operation. */
export function toAnswer(operation: OperationId, resource: unknown): RecordedAnswer {
  return { status: operations[operation].success.status, body: JSON.stringify(resource) }
}
