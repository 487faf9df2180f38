import { LogError, parseTilePath, tileWidth, type ReadTile, type TileName } from '@agent-exchange/log'
import { extensions } from '@agent-exchange/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { latestPublished } from '../features/transparency-log/checkpoint-store.ts'
import { DamagedLog } from '../features/transparency-log/damage.ts'
import { logKeyDescription } from '../features/transparency-log/describe-key.ts'
import { listLogKeyEvents } from '../features/transparency-log/list-key-events.ts'
import { listPackageHeads } from '../features/transparency-log/list-heads.ts'
import { listLogRecords } from '../features/transparency-log/list-records.ts'
import { saveDamage } from '../features/transparency-log/log-state-store.ts'
import { readConsistency } from '../features/transparency-log/read-consistency.ts'
import { MAXIMUM_INDEXES, readHistory } from '../features/transparency-log/read-history.ts'
import { cachedTiles, findTile, type CachedTiles } from '../features/transparency-log/tile-store.ts'
import { isStorable } from '../kernel/bounds.ts'
import type { Caller } from '../kernel/call.ts'
import { Problem } from '../kernel/problem.ts'
import { authenticate } from './authentication.ts'
import type { AgentServerDependencies } from './dependencies.ts'

const IMMUTABLE = 'max-age=31536000, immutable'
const SIZE = /^(?:0|[1-9]\d{0,15})$/u

/** The transparency log (docs/transparency.md): C2SP tlog-tiles, and proofs for the parties of a record. */
export function registerLog(app: FastifyInstance, dependencies: AgentServerDependencies): void {
  const { db, context, transparency } = dependencies
  const isPublic = context.profile['O-07'].transparency_public
  const tiles = cachedTiles(db)
  const describeKey = logKeyDescription(context, { db, ...transparency })
  const admit = async (request: FastifyRequest): Promise<Caller> => {
    const { caller } = await authenticate(request, dependencies.authentication)
    await dependencies.rate.take(caller.organizationId)
    return caller
  }
  /** Size and growth of the log show the volume of the exchange, so they are public only where the profile says so. */
  const admitReader = async (request: FastifyRequest) => {
    if (!isPublic) await admit(request)
  }

  app.get(extensions.getLogCheckpoint.path, async (request, reply) => {
    await admitReader(request)
    const checkpoint = await latestPublished(db)
    if (!checkpoint) throw new Problem('resource_not_found')
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(checkpoint.published)
  })

  app.get(extensions.getLogTile.path.replace('{tile}', '*'), async (request, reply) => {
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

  // Public whatever the profile says: a verifier needs the key without being an agent, and it shows no volume.
  app.get(extensions.getLogKey.path, async (_request, reply) => sendJson(reply, await describeKey()))

  registerProofs(app, dependencies, { admit, tiles })
}

interface ProofTools {
  readonly admit: (request: FastifyRequest) => Promise<Caller>
  readonly tiles: CachedTiles
}

function registerProofs(
  app: FastifyInstance,
  { db, context, concurrency }: AgentServerDependencies,
  { admit, tiles }: ProofTools,
): void {
  /** A damaged tile fails one answer; operators learn of it, and nobody has to restart anything after the repair. */
  const answer = (caller: Caller, read: (readTile: ReadTile) => Promise<object>) =>
    concurrency.reads(caller.organizationId, async () => {
      try {
        return await tiles.use(read)
      } catch (error) {
        if (!(error instanceof DamagedLog)) throw error
        tiles.forget()
        await saveDamage(db, error.damage)
        throw new Problem('log_damaged', {}, { cause: error })
      }
    })

  app.get(extensions.listLogRecords.path, async (request, reply) => {
    const caller = await admit(request)
    const query = { caller, ...subjectOf(request), ...pageOf(request) }
    return sendJson(
      reply,
      await answer(caller, (readTile) => listLogRecords(db, query, { context, readTile })),
    )
  })

  app.get(extensions.listLogHeads.path, async (request, reply) => {
    const caller = await admit(request)
    const query = { caller, ...subjectOf(request), ...pageOf(request) }
    return sendJson(reply, await answer(caller, () => listPackageHeads(db, query, context)))
  })

  app.get(extensions.listLogKeyEvents.path, async (request, reply) => {
    const caller = await admit(request)
    const agentId = textIn(request, 'agent_id')
    if (agentId === undefined) throw invalid('/agent_id', 'Give the agent_id.')
    const query = { agentId, ...pageOf(request) }
    return sendJson(
      reply,
      await answer(caller, (readTile) => listLogKeyEvents(db, query, { context, readTile })),
    )
  })

  app.get(extensions.getLogConsistency.path, async (request, reply) => {
    const caller = await admit(request)
    const from = textIn(request, 'from') ?? ''
    if (!SIZE.test(from)) throw invalid('/from', 'Give the size of an earlier checkpoint.')
    return sendJson(reply, await answer(caller, (readTile) => readConsistency(db, Number(from), readTile)))
  })

  app.get(extensions.getLogHistory.path, async (request, reply) => {
    const caller = await admit(request)
    const indexes = indexesIn(request)
    return sendJson(reply, await answer(caller, (readTile) => readHistory(db, indexes, readTile)))
  })
}

/** A thread or one package. */
function subjectOf(request: FastifyRequest): { threadId: string } | { packageId: string } {
  const [threadId, packageId] = [textIn(request, 'thread_id'), textIn(request, 'package_id')]
  if (threadId !== undefined && packageId === undefined) return { threadId }
  if (packageId !== undefined && threadId === undefined) return { packageId }
  throw invalid('/thread_id', 'Give either thread_id or package_id.')
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
