import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { newObject } from '@agent-exchange/sdk/internal'
import { MAXIMUM_POLICIES, MAXIMUM_POLICY_BYTES } from '../mcp-limits.ts'
import { policyNamed, readPolicies } from './policies.ts'

const root = mkdtempSync(join(tmpdir(), 'aex-mcp-policies-'))
const folder = join(root, 'policies')
after(() => rmSync(root, { recursive: true, force: true }))
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
})

const policyText = (policyId: string) =>
  JSON.stringify(
    newObject('policy_envelope', {
      by: { organizationId: 'org_acme', agentId: 'agent_acme' },
      to: 'org_bolt',
      now: new Date(),
      policyId,
    }),
  )
const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 })

test('policies are read by file name; a folder that does not exist has none', async () => {
  write('b.json', policyText('pol_b'))
  write('a.json', policyText('pol_a'))
  write('notes.txt', 'nothing')
  assert.deepEqual(
    (await readPolicies(folder)).map(({ policy_id }) => policy_id),
    ['pol_a', 'pol_b'],
  )
  assert.equal(policyNamed(await readPolicies(folder), 'pol_b').policy_id, 'pol_b')
  assert.deepEqual(await readPolicies(join(root, 'nowhere')), [])
  assert.throws(() => policyNamed([], 'pol_a'), /A person has to write one/u)
})

test('a policy that others can change, that is invalid, too large or ambiguous is refused', async () => {
  write('a.json', policyText('pol_a'))
  const file = join(folder, 'a.json')
  chmodSync(file, 0o660)
  await assert.rejects(readPolicies(folder), /can be changed by other users/u)
  chmodSync(file, 0o600)
  chmodSync(folder, 0o777)
  await assert.rejects(readPolicies(folder), /Other users can change the folder/u)
  chmodSync(folder, 0o700)
  for (const text of [
    '{',
    '{}',
    '{"object_type":"policy_envelope"}',
    policyText('pol_a').replace('{', '{"id":"pol_x",'),
  ]) {
    write('a.json', text)
    await assert.rejects(readPolicies(folder), /no valid policy_envelope/u)
  }
  write('a.json', policyText('pol_a') + ' '.repeat(MAXIMUM_POLICY_BYTES))
  await assert.rejects(readPolicies(folder), /larger than/u)
  write('a.json', policyText('pol_a'))
  write('b.json', policyText('pol_a'))
  await assert.rejects(readPolicies(folder), /same policy_id/u)
})

test('the number of policies is limited', async () => {
  for (let count = 0; count <= MAXIMUM_POLICIES; count++) write(`${count}.json`, policyText(`pol_${count}`))
  await assert.rejects(readPolicies(folder), /more than/u)
})
