import { ConnectorError } from './connector-error.ts'

/** What every connector takes in a path without escaping it. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,250}$/u

/** One package, one asset: whoever publishes again, after a crash or elsewhere, comes to the same id. */
export function assetIdOf(packageId: string): string {
  return requireId(`aex-${packageId}`)
}

export function policyIdOf(assetId: string): string {
  return `${assetId}-policy`
}

export function offerIdOf(assetId: string): string {
  return `${assetId}-offer`
}

export function requireId(id: string): string {
  if (ID.test(id)) return id
  throw new ConnectorError('invalid_input', {
    what: 'An asset or package id may hold letters, digits, dot, dash and underscore, at most 250.',
  })
}
