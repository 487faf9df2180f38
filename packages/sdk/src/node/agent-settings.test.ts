import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ExchangeError } from '../errors.ts'
import { makersOf } from '../objects/makers.ts'
import { readAgentDefaults, setAgentDefaults } from './agent-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-settings-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'settings.json')
const author = {
  by: { organizationId: 'org_seats', agentId: 'agent_seats' },
  now: new Date('2026-06-01T08:00:00Z'),
}
const policy = makersOf(() => author).policyEnvelope({ to: 'org_cars', purpose: 'alignment' })
const skill = { id: 'skill_alignment', version: '1.0.0' }

test('defaults are kept, and a change leaves the rest as it is', async () => {
  assert.deepEqual(await readAgentDefaults(file), {})
  await setAgentDefaults(file, { skill })
  assert.deepEqual(await setAgentDefaults(file, { policy }), { policy, skill })
  assert.deepEqual(await readAgentDefaults(file), { policy, skill })
  assert.equal(statSync(file).mode & 0o077, 0)
})

test('a default policy that is not a policy is refused, and nothing is changed', async () => {
  const before = await readAgentDefaults(file)
  const wrong = { ...policy, allowed_recipients: [] }
  await assert.rejects(setAgentDefaults(file, { policy: wrong }), hasCode('object_invalid'))
  assert.deepEqual(await readAgentDefaults(file), before)
})

test('damaged settings are refused, not ignored', async () => {
  const damaged = join(folder, 'damaged.json')
  for (const text of ['{', '{}', '{"format":"aex-agent-settings","version":1,"policies":[]}']) {
    writeFileSync(damaged, text)
    await assert.rejects(readAgentDefaults(damaged), hasCode('agent_folder_unreadable'))
  }
})

const hasCode = (code: string) => (error: unknown) => error instanceof ExchangeError && error.code === code
