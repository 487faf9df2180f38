import { draftPackage, freshId, submit, type Organization } from '@agent-exchange/testkit'
import { registerEndpoints } from '../exchange/delivering-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { toParty } from '../exchange/parties.ts'
import { HANGING_PATH } from '../delivery/hanging-path.ts'
import type { Source } from '../load/load-main.ts'
import type { LoadProcess } from '../load/load.ts'
import type { Contender } from '../rounds.ts'

/** What a hostile organization does while another one is measured. */
export interface Attack extends Contender {
  readonly connections: number
  readonly source: Source
  /** Requests of a stock that are made before the attack. */
  readonly stock?: number
  /** Whether the victim is slowed down at its responses or at its webhooks. */
  readonly hurts: 'responses' | 'webhooks'
}

export interface Hostile {
  readonly organization: Organization
  readonly load: LoadProcess
  readonly exchange: Exchange
  /** Addresses of the receiver that the victim does not use. */
  readonly origins: readonly string[]
}

const CONNECTIONS = 40
/** A few of them block the event loop if bodies are parsed. */
const LARGE_CONNECTIONS = 8
const THREAD_PACKAGES = 100
const RECEIPTS = 4_000
const SLOW_PACKAGES = 50
const ARTIFACT_BYTES = 4_194_304
/** A body just below the limit of O-14 for bodies without a package (control_bytes). */
const MEMBERS = 60_000
const REGISTRATION_BYTES = 1_000_000
const PAGE = 100
/** Just below the number that a body may have. */
const CHUNKS = 65_000

const reads = (path: string): Source => ({ kind: 'reads', reads: [{ path, sender: 0 }] })

const posts = (path: string, ...bodies: string[]): Source => ({
  kind: 'posts',
  path,
  posts: bodies.map((body) => ({ body: Buffer.from(body), sender: 0 })),
})

export async function attacksOf(hostile: Hostile): Promise<Attack[]> {
  const { organization, load, exchange } = hostile
  const partner = await exchange.world.organization('partner')
  const threadId = await deepThread(organization, partner)
  await slowEndpoints(partner, hostile)
  const parties = { senders: [toParty(organization)], receivers: [toParty(partner)] }
  await load.call('createStock', { ...parties, name: 'receipts', kind: 'receipts' })
  await load.call('createStock', { ...parties, name: 'slow', kind: 'packages', needsReceipts: true })
  const attack = (id: string, label: string, source: Source, more: Partial<Attack> = {}): Attack => ({
    id: `fairness_${id}`,
    label,
    source,
    connections: CONNECTIONS,
    hurts: 'responses',
    ...more,
  })
  return [
    attack('evidence', 'evidence reads', reads(`/v1/audit/threads/${threadId}?limit=${PAGE}`)),
    attack('receipts', 'policy receipts', { kind: 'stock', stock: 'receipts' }, { stock: RECEIPTS }),
    attack(
      'registrations',
      'registrations of 0.9 MB',
      posts('/v1/agents/register', registration(organization)),
      {
        connections: LARGE_CONNECTIONS,
      },
    ),
    attack(
      'invalid',
      'invalid bodies',
      posts('/v1/packages', ...(await invalidBodies(organization, partner))),
    ),
    attack('chunks', 'bodies in chunks of one byte', byteChunks(), { connections: LARGE_CONNECTIONS }),
    attack('threads', 'pages of a deep thread', reads(`/v1/threads/${threadId}?limit=${PAGE}`)),
    attack('artifacts', 'artifact downloads', reads(await publishArtifact(exchange))),
    attack(
      'slow_receivers',
      'webhooks to slow receivers',
      { kind: 'stock', stock: 'slow', most: SLOW_PACKAGES },
      { stock: SLOW_PACKAGES, hurts: 'webhooks' },
    ),
  ]
}

async function deepThread(from: Organization, to: Organization): Promise<string> {
  const threadId = freshId('thread')
  for (let i = 0; i < THREAD_PACKAGES; i++) {
    const answer = await submit(from, await draftPackage(from, to, { threadId }))
    if (answer.status !== 202) throw new Error(answer.text)
  }
  return threadId
}

function slowEndpoints(owner: Organization, { origins }: Hostile): Promise<void> {
  return registerEndpoints(
    owner,
    origins.map((origin) => `${origin}${HANGING_PATH}`),
  )
}

/** Valid but for the number of its members. */
function registration(organization: Organization): string {
  const members = Array.from({ length: MEMBERS }, (_, i) => [`s${i}`, '1.0'])
  const text = JSON.stringify({
    ...organization.registration(),
    agent_id: freshId('agent'),
    skill_versions: Object.fromEntries(members),
  })
  // A larger body would be refused unread.
  if (text.length > REGISTRATION_BYTES) throw new Error(`the registration has ${text.length} bytes`)
  return text
}

/** Spaces, each in its own chunk. */
function byteChunks(): Source {
  const body = Buffer.from(`${'1\r\n \r\n'.repeat(CHUNKS)}0\r\n\r\n`)
  return { kind: 'posts', path: '/v1/packages', posts: [{ body, sender: 0, isChunked: true }] }
}

async function invalidBodies(from: Organization, to: Organization): Promise<string[]> {
  const { body } = await draftPackage(from, to)
  const text = JSON.stringify(body)
  return [
    text.slice(0, -1),
    `${text.slice(0, -1)},"unknown":true}`,
    text.replace('"signature":"', '"signature":"AAAA'),
    `${'['.repeat(PAGE)}${']'.repeat(PAGE)}`,
  ]
}

/** Returns the path of a large artifact. */
async function publishArtifact({ world }: Exchange): Promise<string> {
  const manifest = {
    skill_id: 'skill_fairness',
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
  }
  const bytes = Buffer.alloc(ARTIFACT_BYTES, 'artifact')
  const published = await world.operate('POST', '/skills', { manifest, artifact: bytes.toString('base64') })
  if (published.status !== 201) throw new Error(JSON.stringify(published.body))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `/skills/artifacts/${Buffer.from(digest).toString('hex')}`
}
