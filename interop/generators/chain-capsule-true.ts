import { noteSigner, SIGNATURE_TYPE } from '@agent-exchange/log'
import { logSigner } from '@agent-exchange/testkit'
import type { ChainStory, ChangedCapsule } from './chain-story.ts'
import { asTransfer } from './chain-capsule-transfer.ts'
import { changed, entriesOf, entryOf, linksOf, packageOf, recordsLast } from './change-capsule.ts'

const SECONDS_OUTSIDE = 700

/** Capsules that hold, each at its level. */
export async function trueCapsules(story: ChainStory): Promise<ChangedCapsule[]> {
  const { capsule, asAcmeSeesIt, log } = story
  const signer = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(9))
  const cosignedAt = Math.max(...entriesOf(capsule).map(({ proof }) => Date.parse(proof.recorded_at))) / 1_000
  const at = (seconds: number) => Math.ceil(cosignedAt) + seconds
  const earlier = { cosigners: 2, earlierSize: 27, earlierBy: 1 }
  const transfer = await asTransfer(story)
  return [
    {
      name: 'witnessed',
      description: 'Two of three witnesses cosigned.',
      level: 'witnessed',
      isBoundedBelow: true,
      capsule,
    },
    {
      name: 'log-signed',
      description: 'Nobody cosigned.',
      level: 'log-signed',
      capsule: await log(capsule, {}),
    },
    {
      name: 'one-witness',
      description: 'One of the two witnesses that the policy demands cosigned.',
      level: 'log-signed',
      capsule: await log(capsule, { cosigners: 1 }),
    },
    {
      name: 'no-policy',
      description: 'The verifier has no policy.',
      level: 'unpinned',
      policy: null,
      capsule,
    },
    {
      name: 'other-log',
      description:
        'A log with its own key under the same name, cosigned by all witnesses: never more than unpinned.',
      level: 'unpinned',
      capsule: await log(capsule, { signer, cosigners: 3 }),
    },
    {
      name: 'no-history',
      description: 'No earlier checkpoint: nobody says how early entries can have been recorded.',
      level: 'witnessed',
      isBoundedBelow: false,
      capsule: changed(capsule, (c) => delete c.log.history),
    },
    {
      name: 'earlier-checkpoint-in-between',
      description: 'The earlier checkpoint has some entries already.',
      level: 'witnessed',
      isBoundedBelow: false,
      capsule: await log(capsule, { cosigners: 2, earlierSize: 27, earlierBy: 1 }),
    },
    {
      name: 'earlier-checkpoint-not-witnessed',
      description: 'Nobody cosigned the earlier checkpoint.',
      level: 'witnessed',
      isBoundedBelow: false,
      capsule: changed(capsule, ({ log: { history = [] } }) =>
        Object.assign(history[0] ?? {}, { checkpoint: withoutCosignatures(history[0]?.checkpoint ?? '') }),
      ),
    },
    {
      name: 'without-heads',
      description:
        'The exchange states nothing about the ends of the chains: nobody says up to when they are complete.',
      level: 'witnessed',
      capsule: await log(capsule, { cosigners: 2, head: () => undefined }),
    },
    {
      name: 'one-head-missing',
      description: 'The exchange states the ends of all chains but one.',
      level: 'witnessed',
      capsule: changed(capsule, (c) => delete packageOf(c, 1).head),
    },
    {
      name: 'package-left-out',
      description:
        'A whole package of the thread is left out: a capsule says nothing about packages that it does not show.',
      level: 'witnessed',
      capsule: changed(capsule, (c) => c.packages.splice(2, 1)),
    },
    {
      name: 'seen-by-the-other-party',
      description:
        'The body instead of the placeholder, as the organization shows it that may see it: the same chain.',
      level: 'witnessed',
      capsule: changed(capsule, (c) => {
        packageOf(c, 3).entries = packageOf(changed(asAcmeSeesIt), 3).entries
      }),
    },
    {
      name: 'head-older-than-the-end',
      description:
        'The exchange stated the end before the last record, and the log did not hold that record then.',
      level: 'witnessed',
      capsule: await log(capsule, {
        cosigners: 2,
        head: (head, index) =>
          index === 3 ? { ...head, ...linkAt(story, index, 5), log: { ...head.log, size: 30 } } : head,
      }),
    },
    {
      name: 'last-record-not-logged',
      description: 'The log does not include the last record yet: the exchange alone says that it exists.',
      level: 'signed-only',
      capsule: changed(capsule, (c) => packageOf(c, 3).records.pop()),
    },
    {
      name: 'used-after-revocation',
      description: 'The log holds the revocation of a key before records that the key signed.',
      level: 'signed-only',
      capsule: await log(capsule, { cosigners: 2, order: recordsLast }),
    },
    {
      name: 'recorded-early',
      description: `Witnesses saw the log without some records ${SECONDS_OUTSIDE} seconds after their recorded times.`,
      level: 'signed-only',
      capsule: await log(capsule, { ...earlier, cosignedAt: at(SECONDS_OUTSIDE) }),
    },
    {
      name: 'recorded-late',
      description: `Witnesses saw the log with some records ${SECONDS_OUTSIDE} seconds before their recorded times.`,
      level: 'signed-only',
      capsule: await log(capsule, { cosigners: 2, cosignedAt: at(-SECONDS_OUTSIDE) }),
    },
    {
      name: 'recorded-within-tolerance',
      description: 'Witnesses saw the log without some records 500 seconds after their recorded times.',
      level: 'witnessed',
      capsule: await log(capsule, { ...earlier, cosignedAt: at(500) }),
    },
    {
      name: 'backdated-without-earlier-checkpoint',
      description:
        'An entry was backdated by years, and no earlier checkpoint says that its leaf was not there then.',
      level: 'witnessed',
      isBoundedBelow: false,
      capsule: await log(
        changed(capsule, (c) => (entryOf(c, 0, 4).proof.recorded_at = '2020-01-01T00:00:00.000Z')),
        { cosigners: 2, cosignedAt: at(0) },
      ),
    },
    {
      name: 'transfer',
      description: 'A package of a connector transfer, with its signed manifest.',
      level: 'witnessed',
      capsule: await log(transfer),
    },
    {
      name: 'transfer-withheld',
      description: 'The exchange withholds the manifest of a transfer after its revocation.',
      level: 'witnessed',
      capsule: await log(
        changed(transfer, (c) => {
          delete packageOf(c, 2).edc
          delete packageOf(c, 2).sender_signature
        }),
      ),
    },
  ]
}

/** Origin, size, root, a blank line and the signature of the log. */
function withoutCosignatures(checkpoint: string): string {
  return `${checkpoint.split('\n').slice(0, 5).join('\n')}\n`
}

function linkAt(story: ChainStory, index: number, position: number): { position: number; link: string } {
  return { position, link: linksOf(story.capsule, index)[position] ?? '' }
}
