import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { provision, startAgent } from '../agents.fixture.ts'
import { linkPackages, startProgram } from '../documentation.fixture.ts'
import { inputFor, SKILL } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { sendPackage } from '../send/send-package.ts'
import { connectFolder } from './connect-folder.ts'

test('the example of joinExchange runs, and others can send to the agent that it makes', async () => {
  await using world = await startWorld()
  using cleanup = new DisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'aex-join-example-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  linkPackages(folder)
  const source = readFileSync(join(import.meta.dirname, 'join-exchange.ts'), 'utf8')
  const [, comment = ''] = /@example\n((?: \* .*\n)+?) \*\//u.exec(source) ?? []
  const example = comment.replaceAll(/^ \* /gmu, '')
  const program = [
    `import { joinExchange } from '@agent-exchange/sdk/node'`,
    `const invitation = process.env['INVITATION'] ?? ''`,
    example,
    'console.log(agent.status)',
  ]
  writeFileSync(join(folder, 'program.ts'), program.join('\n'))

  await provision(world, '/organizations', { organization_id: 'org_planner', name: 'Planner' })
  const { invitation } = await provision(world, '/invitations', { organization_id: 'org_planner' })
  await using running = startProgram(folder, 'program.ts', { INVITATION: String(invitation) })
  assert.equal(await running.end(), 0, running.said())
  assert.equal(running.said(), 'active\n')

  const sender = await startAgent(world, 'sender')
  await using joined = await connectFolder(join(folder, 'planner'))
  const input = inputFor(sender, joined.context)
  assert.deepEqual(input.skill, SKILL)
  await sendPackage(sender, input, { outbox: createMemoryOutbox() })
})
