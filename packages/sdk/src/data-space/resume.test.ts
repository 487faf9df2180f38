import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePorts } from '@agent-exchange/testkit'
import { startDataAddressServer } from '../connectors/data-address-server.ts'
import { inputFor } from '../exchange/drafts.fixture.ts'
import { resumeOutbox } from '../exchange/resume-outbox.ts'
import { sendPackage } from '../exchange/send-package.ts'
import { openSqliteOutbox } from '../node/sqlite-outbox.ts'
import { open, startSpace, toldTo, type Company } from './data-space.fixture.ts'
import { dyingProgram } from './dying-program.fixture.ts'

const space = await startSpace()
after(() => space[Symbol.asyncDispose]())
const folder = mkdtempSync(join(tmpdir(), 'aex-data-space-'))
after(() => rmSync(folder, { recursive: true }))
const [port = 0] = await freePorts(1)
const kept = { folder: join(folder, 'assets'), port }
const outboxFile = join(folder, 'outbox.db')

let dataAddress = await startDataAddressServer(kept)
let outbox = openSqliteOutbox(outboxFile)
after(async () => {
  outbox.close()
  await dataAddress.close()
})
const bolt = await space.company('bolt')
const acme = await space.company('acme', { dataAddress, outbox })

/** Acme after a restart: only what is on disk is left. */
async function restartAcme(): Promise<Company> {
  outbox.close()
  await dataAddress.close()
  dataAddress = await startDataAddressServer(kept)
  outbox = openSqliteOutbox(outboxFile)
  return space.restart(acme, { dataAddress, outbox })
}

const ONE = { assets: 1, offers: 1, packages: 1, policyReceipts: 1, negotiations: 1, transfers: 1 }

test('[API-04][PKG-03] killed between any two steps of sending and of opening, it stays one of everything', async () => {
  let [sender, finished] = [acme, 0]
  const deaths: string[] = []
  for (let at = 0; finished < 2; at++) {
    assert.ok(at < 40)
    finished = 0
    const input = inputFor(acme.agent, bolt.agent)
    const { id } = input.object
    const sending = dyingProgram(space, sender, at)
    const sent = sendPackage(sending.company.agent, input, sending.company).then(() => undefined)
    const end = await Promise.race([sent, sending.death])
    if (end === undefined) finished += 1
    else {
      deaths.push(end)
      sender = await restartAcme()
      // Before anything was in the outbox, nothing is known of it, and it is sent again as a whole.
      await resumeOutbox(sender.agent, sender)
      await sendPackage(sender.agent, input, sender)
    }
    const opening = dyingProgram(space, bolt, at)
    const opened = open(opening.company, id).then(() => undefined)
    const last = await Promise.race([opened, opening.death])
    if (last === undefined) finished += 1
    else {
      deaths.push(last)
      await open(space.restart(bolt), id)
    }
    // Once the first opening has ended its transfer, reading the content again takes another one.
    const transfers = last === 'transfer_ended' ? 2 : 1
    assert.deepEqual(await space.count(id), { ...ONE, transfers }, `${end} / ${last}`)
    if (at % 8 === 0) assert.deepEqual(await toldTo(acme, id), ['received', 'opened'])
  }
  for (const point of [
    'outbox add',
    'POST policy-receipts',
    'data address put',
    'outbox published',
    'POST packages',
  ])
    for (const when of ['before', 'after']) assert.ok(deaths.includes(`${when} ${point}`), `${when} ${point}`)
  for (const point of [
    'asset_published',
    'policy_published',
    'offer_published',
    'negotiation_started',
    'agreement_reached',
    'transfer_started',
    'token_received',
    'bytes_received',
    'before POST receipts',
    'after POST receipts',
    'transfer_ended',
  ])
    assert.ok(deaths.includes(point), point)
})

test('[API-04][PKG-03] two programs that resume the same outbox at once make one of everything', async () => {
  const input = inputFor(acme.agent, bolt.agent)
  const sender = await restartAcme()
  const dead = new Error('dead')
  const onProgress = ({ step }: { step: string }) => {
    if (step === 'sealed') throw dead
  }
  await assert.rejects(sendPackage(sender.agent, input, { ...sender, onProgress }), dead)
  using otherOutbox = openSqliteOutbox(outboxFile)
  const other = space.restart(sender, { outbox: otherOutbox })
  await Promise.all([resumeOutbox(sender.agent, sender), resumeOutbox(other.agent, other)])
  await open(bolt, input.object.id)
  assert.deepEqual(await space.count(input.object.id), ONE)
})
