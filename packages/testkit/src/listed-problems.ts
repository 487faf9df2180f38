import assert from 'node:assert/strict'
import { OPERATION_IDS, operations, problemsOf, type OperationId } from '@agent-exchange/protocol'
import type { Answer } from './test-world.ts'

/** API-02: whatever a test does, an operation answers only problems that its description lists. */
export function requireListed(method: string, path: string, { status, body }: Answer): void {
  const id = status < 400 ? undefined : operationAt(method, path)
  if (id === undefined) return
  const listed: readonly unknown[] = problemsOf(operations[id])
  assert.ok(
    listed.includes(body['code']),
    `${id} answers ${status} ${String(body['code'])}, which it does not list`,
  )
}

/** The operation behind a path; the path of another operation is not an id, such as `register` after `/v1/agents/`. */
function operationAt(method: string, path: string): OperationId | undefined {
  if (OPERATION_IDS.some((id) => operations[id].path === path && operations[id].method !== method))
    return undefined
  return OPERATION_IDS.find((id) => operations[id].method === method && matches(operations[id].path, path))
}

function matches(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')]
  return (
    expected.length === given.length &&
    expected.every((part, at) => part.startsWith('{') || part === given[at])
  )
}
