import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createProfile, DEFAULT_PROFILE, type DeploymentProfile } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import type { MasterKeys } from '@agent-exchange/server/master-key'
import { platformIdentity } from '../features/agents/platform-identity.ts'
import { randomId } from '../kernel/ids.ts'
import { openPlatformKeys } from './platform-keys.ts'

export const START = '2026-03-02T08:00:00.000Z'
const MASTER_KEYS: MasterKeys = { current: randomBytes(32) }

interface Opening {
  readonly now?: string
  readonly clock?: Clock
  readonly profile?: DeploymentProfile
  readonly masterKeys?: MasterKeys
}

/** The platform keys as one process has them. Without a clock its time stands still. */
export function openKeys(
  db: Database,
  {
    now = START,
    clock = { now: () => now, monotonicMilliseconds: () => 0 },
    profile = DEFAULT_PROFILE,
    masterKeys = MASTER_KEYS,
  }: Opening = {},
) {
  return openPlatformKeys({
    db,
    masterKeys: () => masterKeys,
    profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
}

export function profileWith(rotation: Partial<DeploymentProfile['O-38']>): DeploymentProfile {
  const result = createProfile({ 'O-38': rotation })
  assert.ok(result.ok)
  return result.profile
}
