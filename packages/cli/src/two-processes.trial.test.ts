import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { addressOf, openDatabase } from '@agent-exchange/database'
import { startEmbedded } from '@agent-exchange/database/embedded'
import { connectFolder, createAgentFolder, setExchangeAccess } from '@agent-exchange/sdk/node'
import { callOperator, searchForPlaintext, type World } from '@agent-exchange/testkit'
import { runningExchange, type RunningExchange } from './running-exchange.fixture.ts'
import { SECRET_WORDS } from './two-processes-words.fixture.ts'

const SKILLS = { skill_alignment: '1.0.0' }
const AGENT = join(import.meta.dirname, 'two-processes-agent.fixture.ts')

test(
  '[PKG-14] two agents in processes of their own complete package, receipts, response and revocation through the service, which keeps none of the plaintext',
  { timeout: 180_000 },
  async () => {
    await using exchange = await runningExchange()
    const [acme, bolt] = [await letIn(exchange, 'acme'), await letIn(exchange, 'bolt')]
    const [sender, recipient] = await together((signal) => [
      agentProcess('sender', [acme, 'org_bolt', 'agent_bolt'], signal),
      agentProcess('recipient', [bolt, 'org_acme', 'agent_acme'], signal),
    ])
    const { sent: _, revoked, ...shown } = sender
    assert.deepEqual(shown, {
      answered: SECRET_WORDS.answer,
      state: 'responded',
      outcome: 'access_blocked',
      verdict: 'holds',
    })
    assert.deepEqual(recipient, {
      opened: SECRET_WORDS.reasoning,
      receipts: ['received', 'opened'],
      refused: revoked,
      refusal: 'content_unavailable',
      verdict: 'holds',
    })
    assert.equal(await exchange.stop(), 0)
    await assertKeepsNone(exchange, String(sender['sent']))
  },
)

/** An agent in a folder, registered, with a client of its own. */
async function letIn({ folder, url, env }: RunningExchange, name: string): Promise<string> {
  const token = readFileSync(join(folder, 'data', 'operator-token'), 'utf8').trim()
  const operate = (path: string, body: object) =>
    callOperator(String(env['AEX_OPERATOR_URL']), token, 'POST', path, body)
  const [organizationId, agentId] = [`org_${name}`, `agent_${name}`]
  const dir = join(folder, name)
  const { made } = await createAgentFolder(dir, { identity: { organizationId, agentId } })
  await operate('/organizations', { organization_id: organizationId, name })
  const client = await operate('/clients', {
    organization_id: organizationId,
    agent_id: agentId,
    public_jwk: made.client.publicJwk,
  })
  await setExchangeAccess(dir, { baseUrl: url, clientId: String(client.body['client_id']) })
  await using agent = await connectFolder(dir)
  await agent.register({ implementation: 'test', implementationVersion: '1', skillVersions: SKILLS })
  return dir
}

/** Both, or an end to the other as soon as one fails. */
async function together<T>(start: (signal: AbortSignal) => [Promise<T>, Promise<T>]): Promise<[T, T]> {
  const stop = new AbortController()
  try {
    return await Promise.all(start(stop.signal))
  } finally {
    stop.abort()
  }
}

async function agentProcess(
  role: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const command = ['-C', 'source', AGENT, role, ...args]
  const { NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache') } = process.env
  const env = { ...process.env, NODE_COMPILE_CACHE }
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'], signal })
  const [printed, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.equal(child.exitCode, 0, `${role}: ${said}`)
  return JSON.parse(printed) as Record<string, unknown>
}

/** Everything that the service left on disk, with its database brought up once more to look into the tables. */
async function assertKeepsNone({ folder, logged }: RunningExchange, packageId: string): Promise<void> {
  const dataDirectory = join(folder, 'data')
  await using embedded = await startEmbedded({ dataDirectory, log: () => undefined })
  const target = addressOf(embedded.connection)
  const database = openDatabase({ target, maximumConnections: 1, applicationName: 'test' })
  const place = {
    folders: [dataDirectory, embedded.location],
    sql: database as unknown as World['sql'],
    logged: logged(),
  }
  try {
    const { files, rows, logLines, found } = await searchForPlaintext(place, Object.values(SECRET_WORDS))
    assert.deepEqual(found, [])
    assert.ok(files > 100 && rows > 50 && logLines > 10, `${files} files, ${rows} rows, ${logLines} lines`)
    // The search finds what is there: the id of the package stands in rows and in files.
    const known = await searchForPlaintext(place, [packageId])
    assert.ok(known.found.includes('package') && known.found.length > 2, known.found.join())
  } finally {
    await database.end({ timeout: 1 })
  }
}
