import type { ChainStory, ChangedCapsule } from './chain-story.ts'
import { changed, entryOf, keysLast, linksOf, packageOf, recordsSwapped } from './change-capsule.ts'

const DAYS = 2 * 86_400

/** What an operator can do who holds the keys of log and platform: the log holds everything as it is shown. */
export async function forgedCapsules({ capsule, log }: ChainStory): Promise<ChangedCapsule[]> {
  const recorded = Date.parse(entryOf(changed(capsule), 3, 7).proof.recorded_at) / 1_000
  const cosignedAt = Math.ceil(recorded) + 60
  const moved = (seconds: number) => new Date((recorded + seconds) * 1_000).toISOString()
  return [
    {
      name: 'records-reordered',
      description: 'The log holds the second record of a package before the first.',
      code: 'record_order',
      capsule: await log(capsule, { order: recordsSwapped(0, 1) }),
    },
    {
      name: 'revocation-logged-for-one',
      description: 'The exchange recorded a revocation that only one organization may see.',
      code: 'chain_visibility',
      capsule: await log(
        changed(capsule, (c) => (entryOf(c, 2, 5).visibility = 'one')),
        {},
      ),
    },
    {
      name: 'head-denies-an-entry',
      description: 'The exchange stated an earlier end of the chain than its log held at that time.',
      code: 'head_false',
      capsule: await log(capsule, {
        head: (head, index) =>
          index === 0 ? { ...head, position: 4, link: linksOf(capsule, 0)[4] ?? '' } : head,
      }),
    },
    {
      name: 'head-of-another-log',
      description: 'The exchange stated the end of the chain for another log.',
      code: 'head_subject',
      capsule: await log(capsule, {
        head: (head) => ({ ...head, log: { ...head.log, origin: 'other.example/log' } }),
      }),
    },
    {
      name: 'head-of-another-history',
      description: 'The exchange stated another link at the end of the chain.',
      code: 'head_link',
      capsule: await log(capsule, { head: (head) => ({ ...head, link: '00'.repeat(32) }) }),
    },
    {
      name: 'backdated',
      description: 'Witnesses saw the log without some records two days after their recorded times.',
      code: 'recorded_time',
      capsule: await log(capsule, {
        cosigners: 2,
        earlierSize: 27,
        earlierBy: 1,
        cosignedAt: cosignedAt + DAYS,
      }),
    },
    {
      name: 'postdated',
      description: 'Witnesses saw the log with its records two days before their recorded times.',
      code: 'recorded_time',
      capsule: await log(capsule, { cosigners: 2, cosignedAt: cosignedAt - DAYS }),
    },
    {
      name: 'inner-entry-postdated',
      description: 'The second entry of a record was recorded two days after witnesses saw it.',
      code: 'recorded_time',
      capsule: await log(
        changed(capsule, (c) => (entryOf(c, 0, 3).proof.recorded_at = moved(DAYS))),
        { cosigners: 2, cosignedAt },
      ),
    },
    {
      name: 'inner-entry-backdated',
      description:
        'The second entry of a record was recorded two days before witnesses saw the log without it.',
      code: 'recorded_time',
      capsule: await log(
        changed(capsule, (c) => (entryOf(c, 3, 3).proof.recorded_at = moved(-DAYS))),
        { cosigners: 2, earlierSize: 27, earlierBy: 1, cosignedAt },
      ),
    },
    {
      name: 'recorded-at-no-time',
      description: 'The recorded time of an entry is not a time.',
      code: 'recorded_time',
      capsule: await log(
        changed(capsule, (c) => (entryOf(c, 0, 4).proof.recorded_at = 'yesterday')),
        { cosigners: 2, cosignedAt },
      ),
    },
    {
      name: 'keys-backdated',
      description: 'The keys entered the log after what they signed.',
      code: 'key_logged_before_use',
      capsule: await log(capsule, { order: keysLast }),
    },
    {
      name: 'key-events-from-2',
      description: 'The key events of an agent have numbers from 2 on.',
      code: 'key_event_numbers',
      capsule: await log(
        changed(capsule, (c) => {
          for (const event of c.log.key_events) if (event.agent_id === c.keys[0]?.agent_id) event.number++
        }),
        {},
      ),
    },
    {
      name: 'key-for-encryption',
      description: 'The key of a signature was registered for encryption.',
      code: 'key_bound',
      capsule: await log(
        changed(capsule, (c) => {
          for (const event of c.log.key_events)
            if (event.key_id === c.keys[0]?.key_id) event.use = 'encryption'
        }),
        {},
      ),
    },
    {
      name: 'key-owner-differs',
      description: 'The keys of an agent were registered for another organization than that of its packages.',
      code: 'key_owner',
      capsule: await log(
        changed(capsule, (c) => {
          const agentId = packageOf(c, 0).metadata.sender_agent_id
          for (const each of [...c.keys, ...c.log.key_events])
            if (each.agent_id === agentId) each.organization_id = 'org_x'
        }),
        {},
      ),
    },
  ]
}
