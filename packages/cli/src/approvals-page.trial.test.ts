import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { approverOf, connectFolder } from '@agent-exchange/sdk/node'
import { startWorld } from '@agent-exchange/testkit'
import { aexRunning } from './aex-here.fixture.ts'
import { madeAgent } from './commands/agent/agents.fixture.ts'
import { residentAex } from './resident-aex.fixture.ts'
import { blocksOf, COMMANDS, ROOT, scriptOf } from './running-exchange.fixture.ts'

const run = promisify(execFile)
const PASSPHRASE = 'correct horse battery staple'
const skip =
  spawnSync('script', ['--version']).status === 0 ? false : 'there is no "script" to type at a terminal'

test('[POL-03] docs/approvals.md works as it is written', { skip, timeout: 180_000 }, async () => {
  await using world = await startWorld({ config: { role: 'all' } })
  using cleanup = new DisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'aex-approvals-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const seats = await madeAgent(world, 'seats', join(folder, 'seats'))
  const cars = await madeAgent(world, 'cars', join(folder, 'cars'))
  const [init = '', draft = '', desk = '', send = '', ...others] = blocksOf('docs/approvals.md', 'sh')
  assert.deepEqual(others, [])
  // The page continues the quickstart, in its folder.
  const left = [
    ...blocksOf('docs/quickstart.md', 'sh')
      .join('')
      .matchAll(/--out (\S+)/gu),
  ].map(([, name = '']) => name)
  assert.ok(left.includes('capacity.json'))
  for (const name of left) writeFileSync(join(folder, name), '{}')
  const path = `${COMMANDS}:${process.env['PATH']}`

  await typed(scriptOf([init], world).trim(), folder, path)
  assert.ok(await approverOf(seats))

  await using aex = await residentAex()
  const env = { ...process.env, FORCE_COLOR: undefined, PATH: `${aex.commands}:${path}` }
  const shell = (text: string, more: object = {}) =>
    run('bash', ['-euo', 'pipefail', '-c', text], { cwd: folder, env: { ...env, ...more } })
  const made = await shell(`${scriptOf([draft], world)}\necho "DRAFT=$DRAFT"`)
  const draftId = /^DRAFT=(draft_[0-9a-f]{32})$/mu.exec(made.stdout)?.[1] ?? ''
  assert.match(made.stdout, /waiting/u)
  const waiting = await shell(scriptOf([send], world), { DRAFT: draftId }).catch((error: Error) => error)
  assert.match(String(Reflect.get(waiting, 'stderr')), /approval_waiting/u)

  await approveAtDesk(desk.trim().split(' ').slice(2), folder, draftId)
  const sent = await shell(scriptOf([send], world), { DRAFT: draftId })
  const packageId = /^(pkg_\w+) is accepted/mu.exec(sent.stdout)?.[1] ?? ''
  await using recipient = await connectFolder(cars)
  assert.equal((await recipient.open(packageId)).policyReceipt.receipt.human_approval.required, true)

  const [program = '', ...more] = blocksOf('docs/approvals.md', 'ts')
  assert.deepEqual(more, [])
  writeFileSync(join(folder, 'program.ts'), program)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const { stdout } = await run('node', ['-C', 'source', 'program.ts'], { cwd: folder, env })
  assert.equal(stdout, 'true true\napproval_waiting\n1 0\n')
})

/** Types the passphrase at a terminal whenever it is asked for. It must not be echoed. */
async function typed(command: string, cwd: string, path: string): Promise<void> {
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...process.env, PATH: path, TERM: 'dumb' },
  })
  let said = ''
  let asked = 0
  terminal.stdout.on('data', (data: Buffer) => {
    said += String(data)
    const questions = said.match(/passphrase(?:, again)?: /gu)?.length ?? 0
    for (; asked < questions; asked++) terminal.stdin.write(`${PASSPHRASE}\n`)
  })
  const [code] = (await once(terminal, 'exit')) as [number]
  assert.equal(code, 0, said)
  assert.equal(asked, 2)
}

/** What the person does with a browser, by requests. */
async function approveAtDesk(words: readonly string[], folder: string, draftId: string): Promise<void> {
  const from = process.cwd()
  process.chdir(folder)
  await using running = aexRunning(...words, '--json')
  try {
    await running.until(/Ctrl-C ends the desk/u)
    const link = running.printed().match(/http:[^"\s]+/u)?.[0] ?? ''
    const { origin } = new URL(link)
    const entered = await fetch(link, { redirect: 'manual' })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = await (await fetch(`${origin}/drafts/${draftId}`, { headers: { cookie } })).text()
    const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`, 'u').exec(page)?.[1] ?? ''
    const body = new URLSearchParams({
      csrf_token: hidden('csrf_token'),
      digest: hidden('digest').replaceAll('&#61;', '='),
      name: 'Ada Example',
      reason: 'Checked.',
      passphrase: PASSPHRASE,
      decision: 'approved',
    })
    const headers = { cookie, origin }
    const decided = await fetch(`${origin}/drafts/${draftId}/decide`, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
    })
    assert.equal(decided.headers.get('location'), `/drafts/${draftId}?done=approved`, await decided.text())
  } finally {
    process.chdir(from)
  }
}
