import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { descriptorLimit } from '../config/descriptor-limit.ts'
import { trustedPeers } from '../oauth/trusted-peers.ts'
import type { ConnectionRules, LimitOutcome } from './connection-limit.ts'
import { connectionRoom } from './connection-room.ts'

/** Outcomes are counted this long before a line says how many there were: a flood must not fill the log. */
const SUMMARY_MS = 1_000

/** The limits of both listeners of this process. */
export function connectionRules(
  { profile, tls, trustedProxies }: Pick<Config, 'profile' | 'tls' | 'trustedProxies'>,
  log: Pick<Logger, 'warn'>,
  descriptors = descriptorLimit(),
): { readonly agent: ConnectionRules; readonly operator: ConnectionRules } {
  const { agent, operator, perAddress } = connectionRoom(profile, descriptors)
  if (agent < profile['O-13'].connections || operator < profile['O-13'].operator_connections) {
    log.warn(
      {
        descriptors,
        connections: agent,
        operator_connections: operator,
        connections_per_address: perAddress,
      },
      'fewer connections than the profile allows (O-13): raise the limit of open files (ulimit -n)',
    )
  }
  return {
    agent: {
      total: agent,
      perAddress,
      isProxy: trustedPeers(trustedProxies),
      proxiesOnly: trustedProxies.length > 0 && tls === undefined,
      onLimit: summaries(log, 'agent'),
    },
    operator: {
      total: operator,
      perAddress: operator,
      isProxy: () => false,
      proxiesOnly: false,
      onLimit: summaries(log, 'operator'),
    },
  }
}

function summaries(log: Pick<Logger, 'warn'>, listener: string): (outcome: LimitOutcome) => void {
  let counts: Partial<Record<LimitOutcome, number>> | undefined
  return (outcome) => {
    if (!counts) {
      setTimeout(() => {
        log.warn({ listener, ...counts }, 'connections were closed by a limit')
        counts = undefined
      }, SUMMARY_MS).unref()
    }
    counts = { ...counts, [outcome]: (counts?.[outcome] ?? 0) + 1 }
  }
}
