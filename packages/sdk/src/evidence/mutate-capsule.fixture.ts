import {
  bodyHash,
  entryBody,
  isHidden,
  type CapsulePackage,
  type CapsuleV3,
  type HiddenEntry,
  type ShownEntry,
} from '@agent-exchange/log'
import type { Mutation } from './mutate-value.fixture.ts'

type Change = (shown: CapsulePackage) => CapsulePackage

/** What somebody does who knows the format: mutations that keep positions, records and hashes right where they can. */
export function* craftedMutations(capsule: CapsuleV3): Generator<Mutation> {
  const { packages, keys, log } = capsule
  for (const [at, shown] of packages.entries()) {
    const changed = (what: string, change: Change): Mutation => ({
      name: `${what} in /packages/${at}`,
      value: { ...capsule, packages: packages.with(at, change(shown)) },
    })
    for (const entry of shown.entries) {
      const { position } = entry
      if (!isHidden(entry)) yield changed(`hide entry ${position}`, hidden(entry))
      yield changed(`take out entry ${position} and close the gap`, without(position))
      yield changed(`cut the chain before entry ${position}`, cutBefore(position))
      yield changed(`cut the chain and the head before entry ${position}`, (own) =>
        withoutHead(cutBefore(position)(own)),
      )
      yield changed(`repeat entry ${position} at the end`, (own) => ({
        ...own,
        entries: [...own.entries, { ...entry, position: own.entries.length + 1 }],
      }))
    }
    for (const [index] of shown.records.entries())
      yield changed(`cut the records from ${index} on`, (own) => ({
        ...own,
        records: own.records.slice(0, index),
      }))
    yield changed('merge the records', merged)
  }
  yield { name: 'remove all heads', value: { ...capsule, packages: packages.map(withoutHead) } }
  yield { name: 'remove the history', value: { ...capsule, log: { ...log, history: undefined } } }
  yield* withCheckpointEverywhere(capsule)
  for (const { agent_id, key_id } of keys) {
    const others = keys.filter((key) => key.key_id !== key_id)
    const of = (name: string, events: typeof log.key_events) => ({
      name: `${name} of key ${key_id}`,
      value: { ...capsule, keys: others, log: { ...log, key_events: events } },
    })
    yield of('remove the key', log.key_events)
    yield of(
      'remove key and events',
      log.key_events.filter((event) => event.key_id !== key_id),
    )
    yield of(
      'remove all events of the agent',
      log.key_events.filter((event) => event.agent_id !== agent_id),
    )
  }
  for (const event of log.key_events) {
    const rest = log.key_events.filter(
      (each) => each.agent_id !== event.agent_id || each.number < event.number,
    )
    yield {
      name: `cut the key events of ${event.agent_id} before ${event.number}`,
      value: { ...capsule, log: { ...log, key_events: rest } },
    }
    for (const member of ['invalid_from', 'valid_until', 'recorded_at'])
      yield {
        name: `set ${member} of key event ${event.number} of ${event.agent_id}`,
        value: {
          ...capsule,
          log: {
            ...log,
            key_events: log.key_events.map((each) =>
              each === event ? { ...each, [member]: '2020-01-01T00:00:00.000Z' } : each,
            ),
          },
        },
      }
  }
}

/** Every proof repeats the checkpoint: what changes its signature lines in all places at once. */
function* withCheckpointEverywhere(capsule: CapsuleV3): Generator<Mutation> {
  const { checkpoint } = capsule.log
  const end = checkpoint.lastIndexOf('\n\n') + 2
  const lines = checkpoint.slice(end, -1).split('\n')
  const written = (text: string) => JSON.stringify(text).slice(1, -1)
  const replaced = (what: string, changed: readonly string[]): Mutation => ({
    name: `${what} of the checkpoint and of every proof`,
    value: JSON.parse(
      JSON.stringify(capsule).replaceAll(
        written(checkpoint),
        written(`${checkpoint.slice(0, end)}${changed.join('\n')}\n`),
      ),
    ),
  })
  yield replaced('reverse the signature lines', lines.toReversed())
  for (const [at, line] of lines.entries()) {
    yield replaced(`remove signature line ${at}`, lines.toSpliced(at, 1))
    yield replaced(`repeat signature line ${at}`, lines.toSpliced(at, 0, line))
    yield replaced(`move signature line ${at} to the end`, [...lines.toSpliced(at, 1), line])
  }
}

const hidden =
  (entry: ShownEntry): Change =>
  (own) => {
    const placeholder: HiddenEntry = {
      position: entry.position,
      kind: entry.proof.kind,
      visibility: 'one',
      body_hash: Buffer.from(bodyHash(entryBody({ event: entry.event, proof: entry.proof }))).toString('hex'),
    }
    return { ...own, entries: own.entries.with(entry.position - 1, placeholder) }
  }

const without =
  (position: number): Change =>
  (own) => {
    const after = (at: number) => (at >= position ? at - 1 : at)
    const entries = own.entries
      .toSpliced(position - 1, 1)
      .map((entry) => ({ ...entry, position: after(entry.position) }))
    const records = own.records
      .map((record) => ({
        ...record,
        first_position: record.first_position > position ? record.first_position - 1 : record.first_position,
        last_position: after(record.last_position),
      }))
      .filter(({ first_position, last_position }) => first_position <= last_position)
    return { ...own, entries, records }
  }

const cutBefore =
  (position: number): Change =>
  (own) => ({
    ...own,
    entries: own.entries.slice(0, position - 1),
    records: own.records.filter(({ last_position }) => last_position < position),
  })

function withoutHead(shown: CapsulePackage): CapsulePackage {
  const { head: _, ...own } = shown
  return own
}

function merged(own: CapsulePackage): CapsulePackage {
  const [first, last] = [own.records[0], own.records.at(-1)]
  if (!first || !last || first === last) return { ...own, records: [] }
  return { ...own, records: [{ ...first, last_position: last.last_position }] }
}
