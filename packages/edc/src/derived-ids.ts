import { ConnectorError } from './connector-error.ts'

/** Characters that need no escaping in a path. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,250}$/u

/** Derived from the package, so that publishing again, after a crash or elsewhere, uses the same asset. */
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
