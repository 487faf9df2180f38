import { LogError, parseTilePath, tileWidth, type ReadTile, type TileName } from '@agent-exchange/log'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { latestPublished } from '../features/transparency-log/checkpoint-store.ts'
import { logKeyDescription } from '../features/transparency-log/describe-key.ts'
import { listLogKeyEvents } from '../features/transparency-log/list-key-events.ts'
import { listLogRecords } from '../features/transparency-log/list-records.ts'
import { readConsistency } from '../features/transparency-log/read-consistency.ts'
import { MAXIMUM_INDEXES, readHistory } from '../features/transparency-log/read-history.ts'
import { cachedTileReader, findTile } from '../features/transparency-log/tile-store.ts'
import { isStorable } from '../kernel/bounds.ts'
import type { Caller } from '../kernel/call.ts'
import { Problem } from '../kernel/problem.ts'
import { authenticate } from './authentication.ts'
import type { AgentServerDependencies } from './dependencies.ts'

const LOG_PATH = '/log'
const IMMUTABLE = 'max-age=31536000, immutable'
const SIZE = /^(?:0|[1-9]\d{0,15})$/u

/** The transparency log (docs/transparency.md): C2SP tlog-tiles, and proofs for the parties of a record. */
export function registerLog(app: FastifyInstance, dependencies: AgentServerDependencies): void {
  const { db, context, transparency } = dependencies
  const isPublic = context.profile['O-07'].transparency_public
  const readTile = cachedTileReader(db)
  const describeKey = logKeyDescription(context, { db, ...transparency })
  const admit = async (request: FastifyRequest): Promise<Caller> => {
    const { caller } = await authenticate(request, dependencies.authentication)
    await dependencies.limitRate(caller.organizationId)
    return caller
  }
  /** Size and growth of the log show the volume of the exchange, so they are public only where the profile says so. */
  const admitReader = async (request: FastifyRequest) => {
    if (!isPublic) await admit(request)
  }

  app.get(`${LOG_PATH}/checkpoint`, async (request, reply) => {
    await admitReader(request)
    const checkpoint = await latestPublished(db)
    if (!checkpoint) throw new Problem('resource_not_found')
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(checkpoint.published)
  })

  app.get(`${LOG_PATH}/tile/*`, async (request, reply) => {
    await admitReader(request)
    const name = tileNamed((request.params as { '*': string })['*'])
    const size = (await latestPublished(db))?.size ?? 0
    if (name.width > tileWidth(name, size)) throw new Problem('resource_not_found')
    const bytes = await findTile(db, name)
    if (!bytes) throw new Problem('resource_not_found')
    return reply
      .header('content-type', 'application/octet-stream')
      .header('cache-control', `${isPublic ? 'public' : 'private'}, ${IMMUTABLE}`)
      .send(Buffer.from(bytes))
  })

  app.get(`${LOG_PATH}/key`, async (request, reply) => {
    await admitReader(request)
    return sendJson(reply, await describeKey())
  })

  registerProofs(app, dependencies, { admit, readTile })
}

interface ProofTools {
  readonly admit: (request: FastifyRequest) => Promise<Caller>
  readonly readTile: ReadTile
}

function registerProofs(
  app: FastifyInstance,
  { db, context, limitConcurrency }: AgentServerDependencies,
  { admit, readTile }: ProofTools,
): void {
  const tools = { context, readTile }

  app.get(`${LOG_PATH}/records`, async (request, reply) => {
    const caller = await admit(request)
    const [threadId, packageId] = [textIn(request, 'thread_id'), textIn(request, 'package_id')]
    if ((threadId === undefined) === (packageId === undefined))
      throw invalid('/thread_id', 'Give either thread_id or package_id.')
    const query = {
      caller,
      ...(threadId !== undefined && { threadId }),
      ...(packageId !== undefined && { packageId }),
      ...pageOf(request),
    }
    return sendJson(
      reply,
      await limitConcurrency(caller.organizationId, () => listLogRecords(db, query, tools)),
    )
  })

  app.get(`${LOG_PATH}/key-events`, async (request, reply) => {
    const caller = await admit(request)
    const agentId = textIn(request, 'agent_id')
    if (agentId === undefined) throw invalid('/agent_id', 'Give the agent_id.')
    const query = { agentId, ...pageOf(request) }
    return sendJson(
      reply,
      await limitConcurrency(caller.organizationId, () => listLogKeyEvents(db, query, tools)),
    )
  })

  app.get(`${LOG_PATH}/consistency`, async (request, reply) => {
    const caller = await admit(request)
    const from = textIn(request, 'from') ?? ''
    if (!SIZE.test(from)) throw invalid('/from', 'Give the size of an earlier checkpoint.')
    const answer = await limitConcurrency(caller.organizationId, () =>
      readConsistency(db, Number(from), readTile),
    )
    return sendJson(reply, answer)
  })

  app.get(`${LOG_PATH}/history`, async (request, reply) => {
    const caller = await admit(request)
    const indexes = indexesIn(request)
    const answer = await limitConcurrency(caller.organizationId, () => readHistory(db, indexes, readTile))
    return sendJson(reply, answer)
  })
}

function indexesIn(request: FastifyRequest): number[] {
  const value = (request.query as Record<string, unknown>)['index'] ?? []
  const texts: unknown[] = Array.isArray(value) ? value : [value]
  const isUsable = texts.every((each) => typeof each === 'string' && SIZE.test(each))
  if (!isUsable || texts.length === 0 || texts.length > MAXIMUM_INDEXES)
    throw invalid('/index', `Give the index of a leaf, up to ${MAXIMUM_INDEXES} times.`)
  return texts.map(Number)
}

function tileNamed(path: string): TileName {
  try {
    return parseTilePath(`tile/${path}`)
  } catch (error) {
    if (error instanceof LogError) throw new Problem('resource_not_found')
    throw error
  }
}

/** A parameter that is given once, as text that the database can compare. */
function textIn(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !isStorable(value)) throw invalid(`/${name}`, 'Give it once, as text.')
  return value
}

function pageOf(request: FastifyRequest): { after?: string; limit?: number } {
  const [after, limit] = [textIn(request, 'after'), textIn(request, 'limit')]
  if (limit !== undefined && !/^[1-9]\d{0,8}$/u.test(limit)) throw invalid('/limit', 'Use a positive number.')
  return { ...(after !== undefined && { after }), ...(limit !== undefined && { limit: Number(limit) }) }
}

function invalid(pointer: string, message: string): Problem {
  return new Problem('validation_failed', { failures: [{ pointer, rule: 'O-07', message }] })
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('content-type', 'application/json').header('cache-control', 'no-store').send(body)
}
