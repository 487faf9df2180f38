import type { ParsedJson } from '@agent-exchange/crypto'
import {
  HEADER,
  maximumBodyBytes,
  MEDIA_TYPE,
  OPERATION_IDS,
  operations,
  type DeploymentProfile,
  type OperationId,
} from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RecordedAnswer } from '../kernel/idempotency-records.ts'
import { isLongerThan } from '../kernel/bounds.ts'
import type { Call } from '../kernel/call.ts'
import { Problem } from '../kernel/problem.ts'
import type { AgentServerDependencies } from './dependencies.ts'
import { requireUnshadowed, shadowedPaths } from './allowed-methods.ts'
import { authenticate, type AdmittedCaller } from './authentication.ts'
import { holdBody } from './body-budget.ts'
import { handlers, type Handler } from './handlers.ts'
import { costBeyondOne } from './rate-limit.ts'
import { checkBody, parseBody } from './request-body.ts'
import { addLogFields } from './request-log-fields.ts'
import { requiredHeader, requireReadableEncoding } from './request-headers.ts'
import { readQuery } from './request-query.ts'
import { spanOf } from './request-spans.ts'

/** The checks that passed before the body was read. */
interface Admission extends AdmittedCaller {
  readonly correlationId: string
  readonly idempotencyKey: string
}

const ADMISSION = 'aexAdmission'
type Admitted = FastifyRequest & { [ADMISSION]: Admission | undefined }

/** Registers one route per operation of the contract. */
export function registerOperations(app: FastifyInstance, dependencies: AgentServerDependencies): void {
  const { profile } = dependencies.context
  app.decorateRequest(ADMISSION, undefined)
  for (const id of OPERATION_IDS) {
    const { method, path } = operations[id]
    const shadowed = shadowedPaths(id)
    app.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      bodyLimit: maximumBodyBytes(id, profile['O-14']),
      // Before the body is read, so that an unauthenticated caller cannot make us read one.
      onRequest: async (request, reply) => {
        requireUnshadowed(shadowed, request, reply)
        const admission = await admit(id, request, dependencies)
        ;(request as Admitted)[ADMISSION] = admission
        holdBody(dependencies.bodies, admission.caller.organizationId, request, reply)
      },
      handler: async (request, reply) => {
        const admission = admissionOf(request)
        const { organizationId } = admission.caller
        const { rate, turns } = dependencies
        const charge = (bytes: number) => rate.charge(organizationId, costBeyondOne(bytes, profile))
        charge(bodyOf(request).length)
        const answer = await turns.run(organizationId, () => run(id, request, admission, dependencies))
        charge(answer.body.length)
        return sendAnswer(reply, answer)
      },
    })
  }
}

async function admit(
  id: OperationId,
  request: FastifyRequest,
  dependencies: AgentServerDependencies,
): Promise<Admission> {
  const { context, authentication, rate } = dependencies
  const { profile } = context
  const correlationId = requiredHeader(request.raw, HEADER.correlationId, profile)
  addLogFields(request, { correlation_id: correlationId })
  const { caller, position } = await authenticate(request, authentication)
  await rate.take(caller.organizationId)
  const isMutation = operations[id].mutation
  if (isMutation) requireReadableEncoding(request.raw)
  const idempotencyKey = isMutation ? requiredHeader(request.raw, HEADER.idempotencyKey, profile) : ''
  return { caller, position, correlationId, idempotencyKey }
}

async function run(
  id: OperationId,
  request: FastifyRequest,
  admission: Admission,
  dependencies: AgentServerDependencies,
): Promise<RecordedAnswer> {
  const { context, turns } = dependencies
  // The compiler cannot correlate the 21 handler types with the call that is built below.
  const handler = handlers[id] as Handler<OperationId>
  let parsed: ParsedJson | undefined
  let checked: Readonly<Record<'body' | 'params' | 'query', unknown>>
  try {
    parsed = operations[id].mutation ? parseBody(bodyOf(request), context.profile) : undefined
    // Synchronous where it can be, so that it counts as the work of one turn.
    if (parsed && handler.inspect) await handler.inspect(parsed.value, context.profile)
    checked = {
      body: parsed && checkBody(id, parsed.value, context.profile, handler.schemaOf),
      params: readParams(request.params as Record<string, string>, context.profile),
      query: readQuery(id, request.query as Record<string, unknown>),
    }
  } catch (error) {
    if (!operations[id].mutation) throw error
    const params = { ...(request.params as Record<string, string>) }
    const attempt = { ...admission, operation: id, params, body: parsed?.value, context }
    return dependencies.mutations.replayOnFailure(error, attempt)
  }
  const call = {
    ...admission,
    ...checked,
    text: parsed?.text ?? '',
    now: context.clock.now(),
    context,
    span: spanOf(request),
    pause: () => turns.pause(admission.caller.organizationId),
  }
  // Validated above against the schemas of the operation, which the compiler cannot infer.
  return handler.run(call as unknown as Call<OperationId>, dependencies)
}

/** An id that is too long or cannot be stored cannot exist. */
function readParams(params: Record<string, string>, profile: DeploymentProfile): Record<string, string> {
  const { identifier_characters, resource_id_characters } = profile['O-14']
  const maximum = Math.max(identifier_characters, resource_id_characters)
  for (const value of Object.values(params)) {
    if (isLongerThan(value, maximum) || value.includes('\0') || !value.isWellFormed())
      throw new Problem('resource_not_found')
  }
  // Canonicalization needs a plain object; the router's has no prototype.
  return { ...params }
}

const NO_BODY = Buffer.alloc(0)

function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : NO_BODY
}

function admissionOf(request: FastifyRequest): Admission {
  const admission = (request as Admitted)[ADMISSION]
  if (!admission) throw new Error('the request was not admitted')
  return admission
}

function sendAnswer(reply: FastifyReply, { status, body }: RecordedAnswer): FastifyReply {
  const admission = (reply.request as Admitted)[ADMISSION]
  reply.code(status).header('content-type', MEDIA_TYPE.json).header('cache-control', 'no-store')
  if (admission) reply.header('x-correlation-id', admission.correlationId)
  return reply.send(body)
}
