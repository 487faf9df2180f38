import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { draftSkillManifest } from '@agent-exchange/testkit'
import { MAXIMUM_ARTIFACT_BYTES } from '../../packages/service/src/features/skills/publish-release.ts'
import { startExchange } from '../shared/exchange.ts'
import { packageHead, startHostileClients, type HostileClients } from './hostile-clients.ts'
import { measureRequests, peakMemory, show } from './request-figures.ts'

const WARM_UP_MS = 2_000
const ATTACK_MS = 6_000
const LONGEST_REQUEST_MS = 3_000
/** What an attack may add to the memory of the process. */
const MOST_MEBIBYTES = 300
const BODY_BYTES = 2_097_152
/** A small total, so that few bodies fill it. */
const PROFILE = { 'O-14': { request_bytes: BODY_BYTES, request_bytes_in_flight: 16 * BODY_BYTES } }
/** Of each organization: more than half of the total. */
const BODIES = 10
const AGAIN_MS = 3_000

const folder = mkdtempSync(join(tmpdir(), 'aex-hostile-'))
writeFileSync(join(folder, 'profile.json'), JSON.stringify(PROFILE))
const exchange = await startExchange({ env: { AEX_WORKERS: '1', AEX_PROFILE: join(folder, 'profile.json') } })
after(async () => {
  await exchange[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const { url } = exchange
const [first, second, other, target] = [
  await exchange.organization('first'),
  await exchange.organization('second'),
  await exchange.organization('other'),
  await exchange.organization('target'),
]
const artifact = await publishArtifact()

async function publishArtifact(): Promise<string> {
  const { status, body } = await exchange.operate('POST', '/skills', {
    artifact: randomBytes(MAXIMUM_ARTIFACT_BYTES).toString('base64'),
    manifest: draftSkillManifest({ skill_id: 'skill_large' }),
  })
  assert.equal(status, 201, JSON.stringify(body))
  return new URL(String(body['artifact_url'])).pathname
}

/** A change of an organization that attacks nobody, and the operator's suspension of another one. */
async function measure() {
  let isActive = true
  const suspend = async () => {
    const path = `/organizations/${target.organizationId}/${isActive ? 'suspend' : 'activate'}`
    const answer = await exchange.operate('POST', path, { reason: 'It floods us.' })
    if (answer.status === 200) isActive = !isActive
    return answer
  }
  const [change, suspension] = await Promise.all([
    measureRequests(ATTACK_MS, () => other.post('/v1/agents/register', other.registration())),
    measureRequests(ATTACK_MS, suspend),
  ])
  if (!isActive) await suspend()
  return { change, suspension }
}

const port = Number(new URL(url).port)
const artifactRequest = (method: string) =>
  `${method} ${artifact} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
const head = await Promise.all([first, second].map((by) => packageHead(by, `Content-Length: ${BODY_BYTES}`)))
const bodies = { port, connections: BODIES, againMs: AGAIN_MS, isReading: true }
const attacks: Record<string, readonly HostileClients[]> = {
  'nobody attacks': [],
  '20 connections repeat HEAD of an artifact of 16 MiB': [
    { port, connections: 20, againMs: 0, isReading: true, head: artifactRequest('HEAD') },
  ],
  '20 connections repeat GET of an artifact of 16 MiB': [
    { port, connections: 20, againMs: 0, isReading: true, head: artifactRequest('GET') },
  ],
  '150 connections ask for an artifact of 16 MiB and do not read': [
    { port, connections: 150, againMs: AGAIN_MS, isReading: false, head: artifactRequest('GET') },
  ],
  'two organizations announce bodies and send nothing': head.map((each) => ({ ...bodies, head: each })),
  'two organizations send all but the last byte of their bodies': head.map((each) => ({
    ...bodies,
    head: each,
    spaces: BODY_BYTES - 1,
  })),
  'one organization sends bodies in chunks of one byte': [
    {
      ...bodies,
      connections: 4,
      head: await packageHead(first, 'Transfer-Encoding: chunked'),
      byteChunks: 500_000,
    },
  ],
}

for (const [name, clients] of Object.entries(attacks)) {
  test(`another organization and the operator are served while ${name}`, async (t) => {
    if (process.platform !== 'linux') return t.skip('memory is read from /proc')
    const { result, before, peak } = await peakMemory(exchange.current().pid, async () => {
      await using attack = new AsyncDisposableStack()
      attack.use(startHostileClients(clients))
      await sleep(WARM_UP_MS)
      return await measure()
    })
    t.diagnostic(`change of another organization: ${show(result.change)}`)
    t.diagnostic(`suspension by the operator: ${show(result.suspension)}`)
    t.diagnostic(`memory: ${before} MiB before, ${peak} MiB at most`)
    for (const { refused, maximumMs } of [result.change, result.suspension]) {
      assert.equal(refused, 0)
      assert.ok(maximumMs < LONGEST_REQUEST_MS, `${maximumMs} ms`)
    }
    assert.ok(peak - before < MOST_MEBIBYTES, `${peak - before} MiB`)
  })
}
