import { keyLabel } from '@agent-exchange/log'
import { concealed, Operator, rewritten, type CheatingExchange } from './cheating-exchange.fixture.ts'
import { seconds, type CheatingWay } from './cheating-way.fixture.ts'

/** The pause of `aex monitor --every 300`. */
const MINUTES_BETWEEN_RUNS = 5
const MAXIMUM_RUNS = 20

/** The monitor has run before; then the operator cheats, and the monitor runs again. */
const way = (
  operator: string,
  codes: readonly string[],
  cheat: (operator: Operator, exchange: CheatingExchange) => void,
  noticedBy = 'the monitor of a party',
): CheatingWay => ({
  operator,
  noticedBy,
  codes,
  when: 'the next run of the monitor',
  async play(exchange) {
    const cheating = new Operator(exchange)
    const before = await cheating.scan()
    if (before.kinds.length > 0) throw new Error(`found before: ${before.kinds.join()}`)
    cheat(cheating, exchange)
    const started = performance.now()
    const { kinds } = await cheating.scan(before.state)
    return { codes: [...new Set(kinds)], after: `run 1, which took ${seconds(started)}` }
  },
})

/** Found by `aex monitor` of one party alone. */
export const FOUND_BY_MONITORS: readonly CheatingWay[] = [
  way(
    'hides an entry in the middle from a party',
    ['entry_gap', 'hidden'],
    (cheating, { packages: [opened] }) => cheating.hide(opened, opened.entries.length - 1),
  ),
  way(
    'hides a receipt from a party behind a placeholder',
    ['concealed'],
    (cheating, { packages: [opened] }) =>
      cheating.show(opened, (all) =>
        all.map((entry) => (entry.chain?.position === opened.entries.length - 1 ? concealed(entry) : entry)),
      ),
  ),
  way('hides the revocation at the end from a party, and has logged it', ['hidden'], (cheating, exchange) => {
    const [, , revoked] = exchange.packages
    cheating.hide(revoked, revoked.entries.length)
  }),
  way('logs a hidden record, up to 16 positions ahead', ['hidden'], (cheating, { packages: [opened] }) =>
    cheating.appendRecord(opened, opened.entries.length + 16),
  ),
  way('rewrites a record, with right hashes', ['altered'], (cheating, { packages: [opened] }) =>
    cheating.show(opened, (all) => rewritten(opened, all)),
  ),
  way('keeps two histories of an event in one log', ['duplicate'], (cheating, { packages: [opened] }) =>
    cheating.appendRecord(opened, 1),
  ),
  way(
    'logs a key event behind the back of the owner, and hides it',
    ['hidden'],
    (cheating, { thread: { bolt } }) => {
      const { agentId } = bolt.identity
      const own = cheating.log.events.filter(({ event }) => event.agent_id === agentId)
      cheating.appendLeaf(keyLabel({ agentId, number: own.length + 1 }))
    },
    'the monitor of the owner',
  ),
  way(
    'registers a key in the name of an agent',
    ['unknown_key'],
    (cheating, { thread: { bolt } }) => {
      const own = cheating.log.events.find(({ event }) => event.agent_id === bolt.identity.agentId)
      Object.assign(own?.event ?? {}, { thumbprint: 'A'.repeat(43) })
    },
    'the monitor of the owner',
  ),
  {
    operator: 'accepts an event, and never logs it',
    noticedBy: 'the monitor of a party',
    codes: ['overdue'],
    when: 'an hour after a run first saw it, with the delay of the default profile',
    async play(exchange) {
      const cheating = new Operator(exchange)
      const { log } = cheating
      const unlogged = log.records.pop()
      if (!unlogged) throw new Error('there is no record')
      log.leaves.splice(unlogged.index, 1)
      for (const later of [...log.records, ...log.events]) if (later.index > unlogged.index) later.index--
      let result = await cheating.scan()
      let runs = 0
      while (result.kinds.length === 0 && runs < MAXIMUM_RUNS) {
        runs++
        cheating.advance(MINUTES_BETWEEN_RUNS)
        result = await cheating.scan(result.state)
      }
      const after = `${runs * MINUTES_BETWEEN_RUNS} minutes by the clock, a run every ${MINUTES_BETWEEN_RUNS}`
      return { codes: [...new Set(result.kinds)], after }
    },
  },
]
