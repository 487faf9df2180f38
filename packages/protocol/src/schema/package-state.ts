import { Type, type Static } from 'typebox'
import { define } from './define.ts'

/** In the order of the progression; `revoked` is not part of it. */
export const PACKAGE_STATES = [
  'accepted',
  'encrypted_available',
  'transfer_started',
  'delivered',
  'received',
  'opened',
  'responded',
  'revoked',
] as const

export const packageState = define('packageState', Type.Enum([...PACKAGE_STATES]))
export type PackageState = Static<typeof packageState>
