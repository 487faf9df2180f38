import assert from 'node:assert/strict'
import type { FastifyInstance } from 'fastify'
import type { PublicJwk } from '@agent-exchange/crypto'
import { freePorts } from '@agent-exchange/testkit'
import type { KeyList } from '../../bench/src/reference/checked-package.ts'
import { startReference } from '../../bench/src/reference/reference-server.ts'
import { isPassed, reportOf } from '../../packages/conformance/src/report/report.ts'
import { tableOf } from '../../packages/conformance/src/report/table.ts'
import { REQUIREMENTS } from '../../packages/conformance/src/requirements/index.ts'
import { SERVICE_CHECKS } from '../../packages/conformance/src/service/checks/index.ts'
import { judgeService } from '../../packages/conformance/src/service/judge-service.ts'
import type { Transport } from '../../packages/conformance/src/wire/wire.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { PACE, startOwnService } from './own-service.ts'

/** The server verifies the envelope, its sender and its digest, and nothing else. */
const BREAKS = ['POL-04', 'PKG-04', 'PKG-06', 'PKG-12', 'PKG-15', 'API-03', 'API-05', 'API-08', 'ERR-01']
/** What the service behind it still does. */
const KEEPS = [
  'ID-01',
  'POL-01',
  'EVT-11',
  'API-02',
  'AUTH-02',
  'ID-02',
  'ID-03',
  'ID-04',
  'ID-06',
  'ID-07',
  'ID-09',
  'ID-10',
  'POL-02',
  'EVT-06',
]
const MAXIMUM_LINES = 200

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
    let naive: Promise<FastifyInstance> | undefined
    const start = async () => {
      const app = await startReference({
        port,
        issuer: underTest.baseUrl,
        jwks,
        keys,
        server: { kind: 'bare' },
      })
      cleanup.defer(() => app.close())
      return app
    }
    const mutate =
      (send: Transport): Transport =>
      async (request) => {
        if (request.method !== 'POST') return send(request)
        if (request.url.endsWith('/v1/agents/register') && naive === undefined)
          keys.push(...signingKeys(request.body))
        if (!request.url.endsWith('/v1/packages')) return send(request)
        await (naive ??= start())
        return send({ ...request, url: `http://127.0.0.1:${port}/v1/packages` })
      }
    const results = await judgeService(underTest, {
      checks: SERVICE_CHECKS,
      seed: 'naive',
      mutate,
      requestsPerSecond: PACE,
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
    assert.deepEqual(
      BREAKS.filter((id) => !failed.includes(id)),
      [],
      'ids that it breaks and the report does not name',
    )
    assert.deepEqual(
      KEEPS.filter((id) => failed.includes(id)),
      [],
      'ids that it keeps and the report names',
    )
    assert.ok(!isPassed(judged))
    const table = tableOf(judged, { colors: false })
    const lines = table.split('\n').length
    assert.ok(lines <= MAXIMUM_LINES, `the report has ${lines} lines:\n${table}`)
    return `${failed.length} ids failed, ${lines} lines`
  })
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
