import { randomBytes } from 'node:crypto'

/** Makes identifiers with 128 random bits, which fit the protocol's tail pattern. */
export type NewId = (prefix: string) => string

export const randomId: NewId = (prefix) => `${prefix}_${randomBytes(16).toString('hex')}`
