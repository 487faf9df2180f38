import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import { sendPackage, startWorld, untilBlocked } from '@agent-exchange/testkit'
import { makePartition } from './make-partition.ts'
import { CONTENTS, spansBetween } from './partitioned-tables.ts'
import { inRetention } from './retention-step.ts'

const world = await startWorld()
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})
const { clock } = world
const DAY = 86_400
const [sender, owner] = await Promise.all([world.organization('sender'), world.organization('owner')])

/** Makes the partition of a day that has contents, and commits it once `request` waits for its locks. */
async function whileContentsMove<T>(expiresAt: string, request: () => Promise<T>): Promise<T> {
  const [span] = spansBetween(CONTENTS, expiresAt, expiresAt)
  assert.ok(span)
  let answer: Promise<T> | undefined
  const isMade = await inRetention(db, async (tx) => {
    const made = await makePartition(tx, CONTENTS, span)
    answer = request()
    await untilBlocked(world, 1)
    return made
  })
  assert.equal(isMade, true)
  return answer as Promise<T>
}

test('[PKG-14][O-36] content that moves to a partition of its own while it is read is found', async () => {
  const expiresAt = secondsAfter(clock.now(), 60 * DAY)
  const { metadata } = await sendPackage(sender, owner, { metadata: { expires_at: expiresAt } })
  const { body } = await owner.get(`/v1/packages/${metadata.package_id}`)
  const url = String(body['ciphertext_download_url'])
  const answer = await whileContentsMove(expiresAt, () => owner.get(url))
  assert.equal(answer.status, 200)
})

test('[PKG-01] a package is accepted while the partition for its day is made', async () => {
  const expiresAt = secondsAfter(clock.now(), 120 * DAY)
  const { metadata } = await whileContentsMove(expiresAt, () =>
    sendPackage(sender, owner, { metadata: { expires_at: expiresAt } }),
  )
  const { body } = await owner.get(`/v1/packages/${metadata.package_id}`)
  assert.equal((await owner.get(String(body['ciphertext_download_url']))).status, 200)
})
