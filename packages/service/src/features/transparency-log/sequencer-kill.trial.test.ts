import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseCheckpoint, parseNote, parseWitnessRequest } from '@agent-exchange/log'
import { organizations, sendPackage, startWorld, type World } from '@agent-exchange/testkit'
import { checkpointFile } from './checkpoint-file.ts'
import { publishedStatus, QUICK_LOG } from './quick-log.fixture.ts'

const PROGRAM = fileURLToPath(new URL('killed-sequencer.fixture.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'aex-kill-'))
after(() => rmSync(folder, { recursive: true }))

let child: ChildProcess | undefined
/** Kills the process that asks for a cosignature of a tree with leaves, and refuses the empty one. */
const witness = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const { checkpoint } = parseWitnessRequest(Buffer.concat(parts).toString())
    if (parseCheckpoint(parseNote(checkpoint).text).size > 0) child?.kill('SIGKILL')
    response.writeHead(503).end()
  })
})
await new Promise<void>((resolve) => witness.listen(0, '127.0.0.1', resolve))
after(() => witness.close())
const witnessUrl = `http://127.0.0.1:${(witness.address() as AddressInfo).port}`

async function sequenceUntilKilled(world: World, data: string, step: string): Promise<void> {
  const key = Buffer.from(world.masterKey).toString('hex')
  const args = ['-C', 'source', PROGRAM, world.databaseUrl, key, data, step, witnessUrl]
  child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.on('data', (part: Buffer) => (said += part.toString()))
  const limit = setTimeout(() => child?.kill('SIGTERM'), 60_000)
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(limit)
  assert.equal(signal, 'SIGKILL', said)
}

for (const [step, signed] of [
  ['before the file', 0],
  ['after the file', 0],
  ['after the signature', 1],
] as const)
  test(`[AUD-01] kill -9 ${step}: the same tree is signed afterwards, and no leaf is lost`, async () => {
    const data = join(folder, step.replaceAll(' ', '-'))
    await using first = await startWorld({ profile: QUICK_LOG })
    const [seats, cars] = await organizations(first, 'seats', 'cars')
    await Promise.all(Array.from({ length: 20 }, () => sendPackage(seats, cars)))
    await sequenceUntilKilled(first, data, step)

    const [state] = await first.sql<{ origin: string; size: string; root: Buffer }[]>`
      select origin, size, root from log_state`
    const size = Number(state?.size)
    assert.ok(size > 0, 'the tiles were committed')
    const notes = await first.sql<{ note: string; published: string | null }[]>`
      select note, published from log_checkpoint`
    assert.equal(notes.length, signed)
    assert.ok(notes.every(({ published }) => published === null))
    const remembered = await checkpointFile(data).read(state?.origin ?? '')
    assert.ok(remembered !== 'ended')
    assert.equal(remembered?.size, step === 'before the file' ? undefined : size)

    await using second = await startWorld({
      profile: QUICK_LOG,
      config: { role: 'all', dataDirectory: data },
      beside: first,
    })
    const status = await publishedStatus(second)
    const [{ wanted, leaves } = { wanted: 0, leaves: 0 }] = await first.sql<
      { wanted: number; leaves: number }[]
    >`
      select ((select count(*) from audit_record) + (select count(*) from agent_key_event))::integer as wanted,
        (select sum(leaf_count)::integer from log_batch) as leaves`
    assert.deepEqual([status['size'], leaves], [wanted, wanted])
    // The note that was signed before the kill is the one of its size.
    const [again] = await first.sql<{ root: Buffer; note: string }[]>`
      select root, note from log_checkpoint where size = ${size}`
    if (again) assert.deepEqual(again.root, state?.root)
    if (notes[0]) assert.equal(again?.note, notes[0].note)
  })
