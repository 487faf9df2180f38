import assert from 'node:assert/strict'
import type { PublicJwk } from '@agent-exchange/crypto'
import { emptyTestDatabase, freePorts } from '@agent-exchange/testkit'
import type { KeyList } from '../../bench/src/reference/checked-package.ts'
import { type DatabaseTarget, open } from '../../bench/src/exchange/postgres-server.ts'
import { createNaiveSchema } from '../../bench/src/reference/naive-database.ts'
import { startReference } from '../../bench/src/reference/reference-server.ts'
import { isPassed, reportOf } from '../../packages/conformance/src/report/report.ts'
import { tableOf } from '../../packages/conformance/src/report/table.ts'
import { REQUIREMENTS } from '../../packages/conformance/src/requirements/index.ts'
import { SERVICE_CHECKS } from '../../packages/conformance/src/service/checks/index.ts'
import { judgeService } from '../../packages/conformance/src/service/judge-service.ts'
import type { Transport } from '../../packages/conformance/src/wire/wire.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { PACE, startOwnService } from './own-service.ts'

/** Its packages are in a database that no other operation reads, and it refuses nothing by a problem document. */
const BREAKS = (
  'API-01 API-03 API-04 API-05 API-07 API-08 AUD-01 AUD-02 AUTH-01 AUTH-03 ERR-01 ERR-02 ERR-03 EVT-01 EVT-10 ' +
  'ID-05 PKG-01 PKG-02 PKG-03 PKG-04 PKG-05 PKG-06 PKG-07 PKG-08 PKG-09 PKG-10 PKG-11 PKG-12 PKG-13 PKG-15 ' +
  'POL-03 POL-04 POL-05'
).split(' ')
const MAXIMUM_LINES = 150
/** It never shows what it did not show at once. */
const PATIENCE_MS = 200

interface Registration {
  readonly agent_id: string
  readonly keys: readonly { readonly use: string; readonly public_key: PublicJwk }[]
}

/** Our service, with the naive server of the benchmarks in the place of createPackageTransfer. */
export async function tryNaiveServer({ report }: TrialTools): Promise<void> {
  await report.step('naive', 'the naive server of bench fails by its ids', async () => {
    await using service = await startOwnService()
    await using cleanup = new AsyncDisposableStack()
    const { webhooks: _, ...underTest } = await service.underTest()
    const jwks = await keysOf(underTest.baseUrl)
    const keys: KeyList[number][] = []
    const [port = 0] = await freePorts(1)
    let naive: Promise<string> | undefined
    await using database = await emptyTestDatabase()
    const start = async () => {
      await using db = open(database.url)
      // With the parties that are registered so far; later agents and keys are unknown to it.
      await createNaiveSchema(service.world, db)
      const app = await startReference({
        port,
        issuer: underTest.baseUrl,
        jwks,
        keys,
        server: { kind: 'naive', database: targetOf(database.url) },
      })
      cleanup.defer(() => app.close())
      return `http://127.0.0.1:${port}`
    }
    const mutate =
      (send: Transport): Transport =>
      async (request) => {
        const path = new URL(request.url).pathname
        if (request.method !== 'POST') return send(request)
        if (path === '/v1/agents/register' && naive === undefined) keys.push(...signingKeys(request.body))
        if (path === '/v1/packages') return send({ ...request, url: (await (naive ??= start())) + path })
        const answer = await send(request)
        // It has no receipts but those that it stored.
        if (path === '/v1/policy-receipts' && answer.status === 201)
          await send({ ...request, url: (await (naive ??= start())) + path })
        return answer
      }
    const results = await judgeService(underTest, {
      checks: SERVICE_CHECKS,
      seed: 'naive',
      mutate,
      requestsPerSecond: PACE,
      patienceMs: PATIENCE_MS,
    })
    const judged = reportOf({
      subject: 'service',
      judged: 'the naive server',
      version: '0.1.0',
      seed: 'naive',
      finishedAt: new Date().toISOString(),
      requirements: REQUIREMENTS,
      results,
    })
    const failed = judged.verdicts
      .filter(({ verdict }) => verdict === 'fail')
      .map(({ requirement }) => requirement.id)
    assert.ok(!isPassed(judged))
    const table = tableOf(judged, { colors: false })
    assert.deepEqual(failed.toSorted(), [...BREAKS].toSorted(), `${failed.toSorted().join(' ')}\n${table}`)
    const lines = table.split('\n').length
    assert.ok(lines <= MAXIMUM_LINES, `the report has ${lines} lines:\n${table}`)
    return `${failed.length} ids failed, ${lines} lines`
  })
}

function targetOf(address: string): DatabaseTarget {
  const { hostname, port, username, password, pathname } = new URL(address)
  return {
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  }
}

function signingKeys(body = '{}'): KeyList[number][] {
  const { agent_id: agentId, keys } = JSON.parse(body) as Registration
  return keys.filter(({ use }) => use === 'signing').map(({ public_key: jwk }) => ({ agentId, jwk }))
}

/** The keys of the tokens, by discovery. */
async function keysOf(baseUrl: string): Promise<(PublicJwk & { readonly kid: string })[]> {
  const read = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>
  const { authorization_servers: servers } = await read(`${baseUrl}/.well-known/oauth-protected-resource`)
  const issuer = new URL((servers as string[])[0] ?? '')
  const path = issuer.pathname === '/' ? '' : issuer.pathname
  const { jwks_uri: address } = await read(`${issuer.origin}/.well-known/oauth-authorization-server${path}`)
  const { keys } = await read(String(address))
  return keys as (PublicJwk & { readonly kid: string })[]
}
