import { after, test } from 'node:test'
import type { SealedPackage } from '@agent-exchange/crypto'
import {
  addKey,
  assertProblem,
  assertSuccess,
  draftPackage,
  organizations,
  revokeKey,
  secondAgent,
  startWorld,
  submit,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

const recipientFirst = (jwe: SealedPackage) => ({ ...jwe, recipients: jwe.recipients.toReversed() })

const by = (organization: Organization, keyId: string) => ({
  ...organization,
  encryption: { ...organization.encryption, keyId },
})

/** Hands in a package that names these two key ids, in this order or the other. */
async function sealedTo(sender: string, recipient: string, reversed = false) {
  const draft = await draftPackage(by(seats, sender), by(cars, recipient), {
    ...(reversed && { reseal: recipientFirst }),
  })
  return submit(seats, draft)
}

const [ours, theirs] = [seats.encryption.keyId, cars.encryption.keyId]
const refused = async (sender: string, recipient: string, reason: string) => {
  for (const reversed of [false, true]) {
    assertProblem(await sealedTo(sender, recipient, reversed), 'encryption_key_unusable', { reason })
  }
}

test('[PKG-02][ID-05] sender and recipient, in either order', async () => {
  assertSuccess(await sealedTo(ours, theirs), 'createPackageTransfer')
  assertSuccess(await sealedTo(ours, theirs, true), 'createPackageTransfer')
})

test('[PKG-02][ID-05] both parties, and nobody else', async () => {
  const [mine, stranger] = [await addKey(seats, 'encryption'), await secondAgent(cars)]
  await refused(ours, 'enc_nobody', 'unknown')
  await refused('enc_nobody', theirs, 'unknown')
  await refused(ours, mine.keyId, 'unknown')
  await refused(ours, ours, 'unknown')
  await refused(ours, stranger.encryption.keyId, 'unknown')
  assertProblem(await sealedTo(theirs, theirs), 'encryption_key_unusable', { reason: 'unknown' })
})

test('[ID-05] neither a signing key nor one that is not valid yet', async () => {
  await refused(ours, cars.signing.keyId, 'not_an_encryption_key')
  await refused(seats.signing.keyId, theirs, 'not_an_encryption_key')
  const later = await addKey(cars, 'encryption', { validFrom: '2090-01-01T00:00:00Z' })
  await refused(ours, later.keyId, 'not_yet_valid')
})

test('[ID-05] active or retiring; a revoked key until its invalid_from, whenever that was recorded', async () => {
  const [old, gone, leaving] = [
    await addKey(cars, 'encryption'),
    await addKey(cars, 'encryption'),
    await addKey(cars, 'encryption'),
  ]
  await addKey(cars, 'encryption', { replaces: old.keyId })
  assertSuccess(await sealedTo(ours, old.keyId), 'createPackageTransfer')
  await revokeKey(cars, gone.keyId, '2026-02-01T00:00:00Z')
  await refused(ours, gone.keyId, 'revoked')
  await revokeKey(cars, leaving.keyId, '2090-01-01T00:00:00Z')
  assertSuccess(await sealedTo(ours, leaving.keyId), 'createPackageTransfer')
  await revokeKey(cars, leaving.keyId, '2026-02-01T00:00:00Z')
  await refused(ours, leaving.keyId, 'revoked')
})

test('[ID-05][PKG-15] a recipient whose only key ends later can receive until then', async () => {
  const lonely = await world.organization('lonely')
  const { keyId } = lonely.encryption
  const send = async () => submit(seats, await draftPackage(seats, lonely))
  const end = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  await revokeKey(lonely, keyId, end)
  assertSuccess(await send(), 'createPackageTransfer')
  world.clock.advance(61)
  assertProblem(await send(), 'recipient_not_capable', { reason: 'encryption_key' })
})

test('[PKG-02] one id may name a key of each party', async () => {
  await addKey(seats, 'encryption', { keyId: 'enc_shared' })
  await addKey(cars, 'encryption', { keyId: 'enc_shared' })
  assertSuccess(await sealedTo('enc_shared', 'enc_shared'), 'createPackageTransfer')
  // The shared id is the recipient's here, and stands first: the other must be found to be the sender's.
  assertSuccess(await sealedTo(ours, 'enc_shared', true), 'createPackageTransfer')
  assertSuccess(await sealedTo(ours, 'enc_shared'), 'createPackageTransfer')
  assertSuccess(await sealedTo('enc_shared', theirs, true), 'createPackageTransfer')
  // And where the recipient's encryption key has the id of a signing key of the sender.
  await addKey(cars, 'encryption', { keyId: seats.signing.keyId })
  assertSuccess(await sealedTo(ours, seats.signing.keyId, true), 'createPackageTransfer')
})
