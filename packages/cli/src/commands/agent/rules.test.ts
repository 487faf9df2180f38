import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createAgentFolder, openFileDeployment } from '@agent-exchange/sdk/node'
import { documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
after(() => folder[Symbol.dispose]())
const dir = folder.path('seats')
const { files } = await createAgentFolder(dir, {
  identity: { organizationId: 'org_seats', agentId: 'agent_seats' },
})
const rules = (...args: string[]) => ['agent', 'rules', '--dir', dir, ...args]
type Shown = { trust: Record<string, Record<string, unknown>> }

test('[O-47] what an agent trusts is set in its folder, setting by setting, and taken back', async () => {
  assert.match(await succeeds(...rules()), /O-47\.verifying\s+│? *logged/u)
  const set = await documentOf<Shown>(
    ...rules('--set', 'O-47.verifying=strict', 'O-46.opened_by=organization'),
  )
  assert.deepEqual(set.trust['O-47'], { verifying: 'strict', sealing: 'introduced' })
  assert.equal(set.trust['O-46']?.['opened_by'], 'organization')
  const kept = JSON.parse(readFileSync(join(dir, 'settings.json'), 'utf8')) as { trust: object }
  assert.deepEqual(kept.trust, { 'O-47': { verifying: 'strict' }, 'O-46': { opened_by: 'organization' } })
  const back = await documentOf<Shown>(...rules('--set', 'O-47.verifying=default'))
  assert.equal(back.trust['O-47']?.['verifying'], 'logged')
})

test('[O-47] what the exchange decides cannot be set here, and an unknown value changes nothing', async () => {
  assert.match(await fails(...rules('--set', 'O-14.request_bytes=1')), /POINT\.SETTING=VALUE/u)
  assert.match(await fails(...rules('--set', 'O-47.verifying=always')), /trust settings are invalid/u)
  assert.equal((await documentOf<Shown>(...rules())).trust['O-47']?.['verifying'], 'logged')
})

test('how the exchange differs from the defaults, and what it changed, is shown', async () => {
  const change = { id: 'O-14', setting: 'request_bytes', before: 2_097_152, after: 4_096 } as const
  await openFileDeployment(files.deployment).write({
    published: { 'O-14': { request_bytes: 4_096 } },
    checkedAt: '2026-03-01T09:00:00.000Z',
    changed: { noticedAt: '2026-03-01T09:00:00.000Z', changes: [change] },
  })
  const text = await succeeds(...rules())
  assert.match(
    text,
    /differs from the defaults \(seen 2026-03-01.*\n {2}O-14\.request_bytes: 2097152 → 4096/u,
  )
  assert.match(text, /It changed, noticed 2026-03-01/u)
})
