import {
  exampleObjects,
  PROTOCOL_VERSION,
  type ReasoningPackage,
  type ResponseObject,
} from '@agent-exchange/protocol'
import { freshId } from '@agent-exchange/testkit'

export interface Party {
  readonly organizationId: string
  readonly agentId: string
}

/** The agent on the other side, built with the code of this project. */
export interface Counterpart extends Party {
  readonly name: string
  /** Fetches, verifies and opens a package, sends receipts, and returns the sealed object. */
  open(packageId: string): Promise<Record<string, unknown>>
  /** Sends a package and returns the sealed object, whose id is that of the package. */
  send(to: Party): Promise<ReasoningPackage>
  /** Answers a package; returns the sealed object and the id of the response package. */
  respond(packageId: string, threadId: string): Promise<{ packageId: string; object: ResponseObject }>
}

function commonMembers(by: Party, createdAt: string) {
  return {
    protocol_version: PROTOCOL_VERSION,
    schema_version: '1.0.0',
    created_at: createdAt,
    created_by: { organization_id: by.organizationId, agent_id: by.agentId },
    trace: { correlation_id: freshId('corr'), idempotency_key: freshId('idem') },
  } as const
}

export function packageFor(from: Party, to: Party, createdAt: string): ReasoningPackage {
  return {
    ...exampleObjects.reasoning_package,
    ...commonMembers(from, createdAt),
    id: freshId('pkg'),
    thread_id: freshId('thread'),
    sender: { organization_id: from.organizationId, agent_id: from.agentId },
    recipients: [{ organization_id: to.organizationId, role: 'supplier', required: true }],
    response_required: {
      required: true,
      deadline: new Date(Date.parse(createdAt) + 86_400_000).toISOString(),
      expected_response_types: ['agree'],
    },
  }
}

export function answerTo(
  packageId: string,
  threadId: string,
  from: Party,
  createdAt: string,
): ResponseObject {
  return {
    ...exampleObjects.response_object,
    ...commonMembers(from, createdAt),
    id: freshId('resp'),
    thread_id: threadId,
    responds_to_package_id: packageId,
  }
}
