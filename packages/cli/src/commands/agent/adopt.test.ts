import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { after, test } from 'node:test'
import { createAgentFolder } from '@agent-exchange/sdk/node'
import { documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
after(() => folder[Symbol.dispose]())

test('a copied folder says that it is one, and the command that it prints adopts it', async () => {
  const [dir, copy] = [folder.path('original'), folder.path('copy')]
  await createAgentFolder(dir, {
    identity: { organizationId: 'org_acme', agentId: 'agent_planner' },
    baseUrl: 'http://127.0.0.1:9',
    clientId: 'client_1',
  })
  cpSync(dir, copy, { recursive: true })
  const refused = await fails('agent', 'open', 'pkg_1', '--dir', copy)
  assert.match(refused, /is a copy, or was moved to another disk.*\(agent_folder_copied\)/)
  const [, command = ''] = /Adopt it: (?:npx )?aex (.+)$/m.exec(refused) ?? []
  assert.equal(command, `agent adopt --dir ${copy}`)
  assert.match(await succeeds(...command.split(' ')), /Do not use the original any more/)
  assert.deepEqual(await documentOf(...command.split(' ')), { folder: copy, adopted: false })
  assert.match(await fails('agent', 'open', 'pkg_1', '--dir', copy), /exchange_unreachable/)
})
