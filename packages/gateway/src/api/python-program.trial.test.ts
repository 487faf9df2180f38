import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verifyCapsuleFile } from '@agent-exchange/log'
import { until } from '@agent-exchange/testkit'
import { addItem } from '../inbox/inbox.fixture.ts'
import { reasoning, startApi } from './api.fixture.ts'

const PROGRAM = fileURLToPath(new URL('../../../../examples/python/through_the_gateway.py', import.meta.url))
const MAXIMUM_LINES = 40

test('a short Python program sends a package, takes the answer from the inbox and keeps a capsule that verifies', async (t) => {
  assert.ok(readFileSync(PROGRAM, 'utf8').trimEnd().split('\n').length <= MAXIMUM_LINES)
  await using api = await startApi()
  await api.policy('acme', 'bolt')
  await api.policy('bolt', 'acme')
  const folder = mkdtempSync(join(tmpdir(), 'aex-python-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'content.json'), JSON.stringify(reasoning('Rails are short in week 12.')))
  const program = spawn('python3', [PROGRAM, 'agent_acme', 'agent_bolt', 'pol_free', 'content.json'], {
    cwd: folder,
    env: { ...process.env, GATEWAY_URL: api.url, GATEWAY_KEY: await api.key(['agent_acme']) },
  })
  let printed = ''
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const exited = once(program, 'exit') as Promise<[number | null]>
  await until('the package', () => printed.startsWith('sent '))
  await answer(api, printed.trim().split(' ')[1] ?? '')
  const [code] = await exited
  assert.equal(code, 0, printed)
  assert.match(printed, /Week 13 is fine\./u)
  const file = readdirSync(folder).find((name) => name.endsWith('.capsule.json')) ?? ''
  const { profile } = api.agents[0]?.agent.context.deployment ?? {}
  const { word, contradictions } = await verifyCapsuleFile(readFileSync(join(folder, file)), {
    require: 'unpinned',
    ...(profile && { profile }),
  })
  assert.deepEqual([word, contradictions], ['consistent', []])
})

/** The other company answers; the gateway of the first one opens the answer and lets it wait. */
async function answer(api: Awaited<ReturnType<typeof startApi>>, respondsTo: string): Promise<void> {
  const key = await api.key(['agent_bolt'])
  const draft = await api.call(
    key,
    'POST',
    '/agents/agent_bolt/drafts',
    {
      responds_to: respondsTo,
      policy_id: 'pol_free',
      content: { response_actions: ['agree'], response_summary: 'Week 13 is fine.' },
    },
    { 'idempotency-key': 'draft' },
  )
  const { body } = await api.call(
    key,
    'POST',
    `/agents/agent_bolt/drafts/${draft.body['draft_id']}/send`,
    {},
    { 'idempotency-key': 'send' },
  )
  const packageId = String(body['package_id'])
  const threadId = String(body['thread_id'])
  const opened = await api.agents[0]?.agent.open(packageId)
  assert.ok(opened)
  const { object } = opened
  const content = {
    agentId: 'agent_acme',
    packageId,
    threadId,
    direction: 'received',
    object,
    provenance: {},
  } as const
  await api.db.begin((tx) => api.contents.put(tx, content))
  await addItem(api.db, { agentId: 'agent_acme', packageId, threadId })
}
