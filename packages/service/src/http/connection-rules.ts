import type { Logger } from 'pino'
import { trustedPeers } from '@agent-exchange/server/trusted-peers'
import type { Config } from '../config/config.ts'
import { descriptorLimit } from '../config/descriptor-limit.ts'
import type { ConnectionRules, LimitOutcome } from './connection-limit.ts'
import { connectionBudget } from './connection-budget.ts'

/** Outcomes are logged as one summary per interval, so that a flood cannot fill the log. */
const SUMMARY_MS = 1_000

/** Connection rules of both listeners. */
export function connectionRules(
  { profile, tls, trustedProxies }: Pick<Config, 'profile' | 'tls' | 'trustedProxies'>,
  log: Pick<Logger, 'warn'>,
  descriptors = descriptorLimit(),
): { readonly agent: ConnectionRules; readonly operator: ConnectionRules } {
  const { agent, operator, perAddress } = connectionBudget(profile, descriptors)
  if (agent < profile['O-13'].connections || operator < profile['O-13'].operator_connections) {
    log.warn(
      {
        descriptors,
        connections: agent,
        operator_connections: operator,
        connections_per_address: perAddress,
      },
      'the open files limit permits fewer connections than the profile (O-13): raise it (ulimit -n)',
    )
  }
  return {
    agent: {
      total: agent,
      perAddress,
      isProxy: trustedPeers(trustedProxies),
      proxiesOnly: trustedProxies.length > 0 && tls === undefined,
      onLimit: logSummaries(log, 'agent'),
    },
    operator: {
      total: operator,
      perAddress: operator,
      isProxy: () => false,
      proxiesOnly: false,
      onLimit: logSummaries(log, 'operator'),
    },
  }
}

function logSummaries(log: Pick<Logger, 'warn'>, listener: string): (outcome: LimitOutcome) => void {
  let counts: Partial<Record<LimitOutcome, number>> | undefined
  return (outcome) => {
    if (!counts) {
      setTimeout(() => {
        log.warn({ listener, ...counts }, 'closed connections at a connection limit')
        counts = undefined
      }, SUMMARY_MS).unref()
    }
    counts = { ...counts, [outcome]: (counts?.[outcome] ?? 0) + 1 }
  }
}
