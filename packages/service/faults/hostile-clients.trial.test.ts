import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAXIMUM_ARTIFACT_BYTES } from '../src/features/skills/publish-release.ts'
import { startExchange } from './exchange.ts'
import { floodOf, hostileConnections, packageHead } from './hostile-clients.ts'
import { measureRequests, peakMemory, show } from './request-figures.ts'

const WARM_UP_MS = 2_000
const ATTACK_MS = 6_000
const LONGEST_REQUEST_MS = 3_000
/** What an attack may add to the memory of the process. */
const MOST_MEBIBYTES = 300
const BODY_BYTES = 2_097_152
/** Announced bodies of this number exceed half of the total of O-14. */
const BODIES = 70

const exchange = await startExchange({ env: { AEX_WORKERS: '1' } })
after(() => exchange[Symbol.asyncDispose]())
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
    manifest: {
      skill_id: 'skill_large',
      version: '1.0.0',
      release_channel: 'preview',
      protocol_range: 'svc/1.0',
      schema_refs: ['https://schemas.example/reasoning_package.schema.json'],
      update_policy: {
        classification: 'initial',
        supersedes: null,
        download_policy: 'automatic_allowed',
        activation_policy: 'operator_approval_required',
        minimum_supported_version: '1.0.0',
      },
    },
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

const byteChunks = '1\r\nx\r\n'.repeat(500_000)
const attacks: Record<string, () => Promise<Disposable[]> | Disposable[]> = {
  'nobody attacks': () => [],
  'HEAD of an artifact of 16 MiB, 20 at a time, without a token': () => [
    floodOf(20, () => fetch(url + artifact, { method: 'HEAD' })),
  ],
  'GET of an artifact of 16 MiB, 20 at a time, without a token': () => [
    floodOf(20, async () => (await fetch(url + artifact)).arrayBuffer()),
  ],
  '150 readers of an artifact of 16 MiB that do not read, without a token': () => [
    hostileConnections(url, 150, (socket) =>
      socket.pause().write(`GET ${artifact} HTTP/1.1\r\nHost: a\r\n\r\n`),
    ),
  ],
  'two organizations announce bodies and send nothing': async () => {
    const heads = await Promise.all(
      [first, second].map((by) => packageHead(by, `Content-Length: ${BODY_BYTES}`)),
    )
    return heads.map((head) => hostileConnections(url, BODIES, (socket) => socket.resume().write(head())))
  },
  'two organizations send all but the last byte of their bodies': async () => {
    const body = Buffer.alloc(BODY_BYTES - 1, ' ')
    const heads = await Promise.all(
      [first, second].map((by) => packageHead(by, `Content-Length: ${BODY_BYTES}`)),
    )
    return heads.map((head) =>
      hostileConnections(url, BODIES, (socket) => {
        socket.resume().write(head())
        socket.write(body)
      }),
    )
  },
  'one organization sends four bodies in chunks of one byte': async () => {
    const head = await packageHead(first, 'Transfer-Encoding: chunked')
    return [hostileConnections(url, 4, (socket) => socket.resume().write(head() + byteChunks))]
  },
}

for (const [name, start] of Object.entries(attacks)) {
  test(`another organization and the operator are served while ${name}`, async (t) => {
    if (process.platform !== 'linux') return t.skip('memory is read from /proc')
    const { result, before, peak } = await peakMemory(exchange.current().pid, async () => {
      using attack = new DisposableStack()
      for (const each of await start()) attack.use(each)
      await sleep(WARM_UP_MS)
      return measure()
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
