import type { PeerPins } from '@agent-exchange/sdk'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visibleJson } from '../../visible.ts'
import { table } from '../operator/table.ts'

const COLUMNS = ['agent', 'use', 'fingerprint', 'trusted_by', 'pinned_at']

export function agentPeersCommand(): Command {
  return folderCommandOf(
    'peers',
    'List the pinned keys of other agents, and why each is trusted',
    'peers',
    'peers --json',
  ).action(async ({ dir, json }: AgentOptions) => {
    const { pins } = await explained({ dir }, () => openAgentFolder(dir))
    const peers = await explained({ dir }, () => pins.list())
    if (json) return console.log(visibleJson(snakeCased(peers)))
    const rows = peers.flatMap(rowsOf)
    console.log(rows.length > 0 ? table(rows, COLUMNS) : 'No other agent is known yet.')
  })
}

/** Includes given fingerprints whose keys the directory has not listed yet. */
function rowsOf({ agentId, keys, expected }: PeerPins) {
  return [
    ...keys.map(({ use, fingerprint, by, pinnedAt, invalidFrom }) => ({
      agent: agentId,
      use,
      fingerprint,
      trusted_by: invalidFrom === undefined ? by : `revoked, was ${by}`,
      pinned_at: pinnedAt,
    })),
    ...expected.map((fingerprint) => ({
      agent: agentId,
      use: '?',
      fingerprint,
      trusted_by: 'fingerprint',
      pinned_at: 'not seen yet',
    })),
  ]
}
