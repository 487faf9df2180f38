import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listProcesses } from '@agent-exchange/testkit/process-list'

const DEMO = ['-C', 'source', join(import.meta.dirname, 'main.ts')]

/** Whatever would make a browser ask for something else, or run something. */
const OUTSIDE = /<(?:script|link|img|iframe|object|embed)\b|@import|url\(|\s(?:src|href|on\w+)=/iu
const TOKEN = /eyJ[\w-]+\.eyJ[\w-]+\./u

/** The demo in a process and a terminal group of its own, with a place for everything that it makes. */
function startDemo(...options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'aex-demo-test-'))
  chmodSync(folder, 0o711)
  // Node's own cache is not the demo's.
  const { NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache') } = process.env
  const env = { ...process.env, TMPDIR: folder, NODE_COMPILE_CACHE, FORCE_COLOR: undefined, NO_COLOR: '1' }
  const child = spawn(process.execPath, [...DEMO, ...options], { cwd: folder, env, detached: true })
  const ended = once(child, 'close')
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said.out += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said.err += part))
  return {
    folder,
    said,
    async ended() {
      await ended
      return child.exitCode
    },
    async until(words: string) {
      while (!said.out.includes(words) && child.exitCode === null) await once(child.stdout, 'data')
    },
    /** As a terminal does it: to the whole group. */
    interrupt: () => process.kill(-(child.pid ?? 0), 'SIGINT'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Processes that were started with a path in this folder: the database first of all. */
function processesOf(folder: string): string[] {
  return listProcesses()
    .map(({ command }) => command)
    .filter((command) => command.includes(folder))
}

/** Steps that are not there, or earlier than the one before. */
function missingInOrder(text: string, steps: readonly string[]): string[] {
  let from = 0
  return steps.filter((step) => {
    const at = text.indexOf(step, from)
    from = Math.max(from, at)
    return at < 0
  })
}

test(
  'the demo succeeds, reports in one file that needs nothing else, and leaves nothing behind',
  { timeout: 120_000 },
  async () => {
    await using demo = startDemo('--report', 'demo.html')
    await demo.until('is up, on a PostgreSQL of its own')
    assert.notDeepEqual(processesOf(demo.folder), [], 'the check for processes finds them')
    assert.equal(await demo.ended(), 0, demo.said.err)
    assert.equal(demo.said.err, '')
    assert.match(
      demo.said.out,
      /evidence consistent[^]*signatures hold; \d+ claims are the exchange’s word alone[^]*none of the plaintext is in \d+ files[^]*\n +0 checks fail\n/,
    )

    const page = readFileSync(join(demo.folder, 'demo.html'), 'utf8')
    const picture = /<svg\s+class="sequence"[^]*?<\/svg>/u.exec(page)?.[0] ?? ''
    for (const words of ['Carmaker', 'Seat supplier', 'signed receipt: opened', 'revokes the package'])
      assert.ok(picture.includes(words), words)
    assert.ok(page.includes("default-src 'none'") && page.includes('None of the plaintext is in'))
    assert.match(
      page,
      /Consistent, but not proven: [^]*Signatures that hold \(\d+\)[^]*Only the exchange says \(\d+\)/,
    )
    assert.match(page, /<h1>[^]*As its sender wrote it[^]*As the exchange holds it[^]*What went where/)
    for (const group of [/<summary>\s*Package [^]*?\d+ hold</u, /The thread as a whole [^]*?\d+ hold</u])
      assert.match(page, group)
    assert.match(page, /Not proved<\/h2>\s*<ul>\s*<li>/)
    assert.match(demo.said.out, /Carmaker says {2}“.+”\n the exchange sees {2}\d+ characters of ciphertext: /)
    assert.match(demo.said.out, /\nTry next:\n(?: {2}(?:npx aex|npm run demo --) .+\n)+$/)
    assert.equal(OUTSIDE.exec(page)?.[0], undefined)
    assert.equal(TOKEN.exec(page)?.[0], undefined)
    assert.deepEqual(readdirSync(demo.folder), ['demo.html'])
    assert.deepEqual(processesOf(demo.folder), [])
  },
)

test(
  'with --mcp two models tell the story through MCP, a person approves at the desk, and nothing is left behind',
  { timeout: 120_000 },
  async () => {
    await using demo = startDemo('--mcp', '--report', 'demo.html')
    await demo.until('send_draft: waiting for a person')
    assert.equal(processesOf(demo.folder).filter((command) => command.includes('agent mcp')).length, 2)
    assert.equal(await demo.ended(), 0, demo.said.err)
    assert.equal(demo.said.err, '')
    const steps = [
      'describe_agent: agent_carmaker_planner',
      'draft_package: a draft, not sent',
      'check_draft: 5 of 5 policy checks passed',
      'send_draft: waiting for a person; nothing was sent',
      'send_draft with “approved: true”: refused',
      'a person reads the draft at the desk, and approves it',
      'send_draft: sealed, signed, accepted',
      'list_inbox: package.accepted #1',
      'signed receipts: received, opened',
      'answer_package: a draft, not sent',
      'revoke_package: revoked, signed',
      'read_package: refused',
      'verify_capsule: no contradictions',
      'evidence consistent',
      'none of the plaintext is in',
      'approval by a person at the desk',
      'Try next:',
    ]
    assert.deepEqual(missingInOrder(demo.said.out, steps), [], demo.said.out)
    assert.match(demo.said.out, /\n +0 checks fail\n/)
    assert.doesNotMatch(demo.said.out, /enter\?link=/)
    const page = readFileSync(join(demo.folder, 'demo.html'), 'utf8')
    assert.ok(page.includes('a person reads the draft at the desk') && page.includes('None of the plaintext'))
    assert.equal(OUTSIDE.exec(page)?.[0], undefined)
    assert.equal(TOKEN.exec(page)?.[0], undefined)
    assert.deepEqual(readdirSync(demo.folder), ['demo.html'])
    assert.deepEqual(processesOf(demo.folder), [])
  },
)

test(
  'with --gateway the supplier is a Python program, and its desk is one link away',
  { timeout: 180_000 },
  async () => {
    await using demo = startDemo('--gateway', '--report', 'demo.html', '--keep')
    await demo.until('Ctrl-C stops it')
    const steps = [
      'starts a gateway, with a database of its own',
      'a Python program starts, with a key of its own',
      'the gateway opens it; signed receipts: received, opened',
      'POST inbox/leases: a reasoning_package',
      'POST drafts, POST send: checked by policy, sealed, signed, accepted',
      'POST inbox/leases: a network_story',
      'stops the gateway for maintenance',
      'revokes the package, signed',
      'POST inbox/leases: nothing; GET package: refused',
      'none of the plaintext is in',
    ]
    assert.deepEqual(missingInOrder(demo.said.out, steps), [])
    assert.match(demo.said.out, /\n +0 checks fail\n/)
    const [, link = ''] = /seat supplier {2}(http\S+\/enter\?link=[\w-]+)\n/u.exec(demo.said.out) ?? []
    const fields = new URLSearchParams({ link: new URL(link).searchParams.get('link') ?? '' })
    const headers = { origin: new URL(link).origin }
    const entered = await fetch(new URL('/enter', link), {
      method: 'POST',
      body: fields,
      headers,
      redirect: 'manual',
    })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const threadId = /\/v1\/threads\/(thread_[\w-]+)/u.exec(demo.said.out)?.[1] ?? ''
    const page = await (await fetch(new URL(`/threads/${threadId}`, link), { headers: { cookie } })).text()
    assert.match(page, /Agreed/u)
    demo.interrupt()
    assert.equal(await demo.ended(), 0, demo.said.err)
    assert.deepEqual(readdirSync(demo.folder), ['demo.html'])
    assert.deepEqual(processesOf(demo.folder), [])
  },
)

test('--gateway without python3 says so before anything starts', () => {
  const { status, stdout, stderr } = refused({ PATH: '/nowhere' }, '--gateway')
  assert.deepEqual([status, stdout, stderr], [1, '', '--gateway needs python3, which is not installed.\n'])
})

test('with --json it prints one document instead of the story', { timeout: 120_000 }, async () => {
  await using demo = startDemo('--json', '--report', 'demo.html')
  assert.equal(await demo.ended(), 0, demo.said.err)
  const document = JSON.parse(demo.said.out) as Record<string, unknown>
  assert.deepEqual(document['evidence'], {
    word: 'consistent',
    summary: (document['evidence'] as { summary: string }).summary,
    failed_checks: [],
  })
  assert.match(String(document['thread_id']), /^thread_/u)
  assert.equal(document['report'], join(realpathSync(demo.folder), 'demo.html'))
  assert.equal(document['operator_token'], undefined)
})

test('the models use the native transport, and say so before anything starts', () => {
  const { status, stdout, stderr } = refused({}, '--mcp', '--transport', 'ds_x')
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^--mcp uses the native transport/u)
})

test('Ctrl-C in the middle ends it soon and leaves nothing behind', { timeout: 120_000 }, async () => {
  await using demo = startDemo()
  await demo.until('registers its public keys')
  demo.interrupt()
  assert.equal(await demo.ended(), 130)
  assert.equal(demo.said.err, '\nStopping; everything is removed.\n')
  assert.doesNotMatch(demo.said.out, /Aligned|Proved/)
  assert.deepEqual(readdirSync(demo.folder), [])
  assert.deepEqual(processesOf(demo.folder), [])
})

test('a report that cannot be written is found before the story begins', () => {
  const { status, stdout, stderr } = refused({}, '--report', join(tmpdir(), 'no-such-folder', 'a.html'))
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^The report cannot be written to .*no-such-folder/u)
})

function refused(env: NodeJS.ProcessEnv, ...options: readonly string[]) {
  return spawnSync(process.execPath, [...DEMO, ...options], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
}

test('through simulated connectors it succeeds too', { timeout: 120_000 }, async () => {
  await using demo = startDemo('--transport', 'ds_x')
  assert.equal(await demo.ended(), 0, demo.said.err)
  assert.match(demo.said.out, /the sealed bytes, connector to connector[^]*\n +0 checks fail\n/)
})

test('left running, it links to the story at the desks of both companies', { timeout: 120_000 }, async () => {
  await using demo = startDemo('--keep')
  await demo.until('Ctrl-C stops it')
  const links = [...demo.said.out.matchAll(/http:\/\/127\.0\.0\.1:\d+\/enter\?link=\S+&thread=\S+/gu)].map(
    String,
  )
  assert.equal(links.length, 2)
  for (const link of links) {
    const entered = await fetch(link, { redirect: 'manual' })
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const location = entered.headers.get('location') ?? ''
    assert.match(location, /^\/threads\/thread_/u)
    const page = await (await fetch(new URL(location, link), { headers: { cookie } })).text()
    assert.match(page, /Conversation, newest first/u)
    assert.match(page, /Agreed/u)
  }
  demo.interrupt()
  assert.equal(await demo.ended(), 0, demo.said.err)
})
