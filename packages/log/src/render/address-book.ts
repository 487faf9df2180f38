import { organizationId, validatorOf } from '@agent-exchange/protocol'
import type { Reader } from './reader.ts'

/** Names that a reader gave to organizations, by id. Nobody signs them. */
export type AddressBook = Readonly<Record<string, string>>

export const MAXIMUM_NAMES = 1_000
const MAXIMUM_NAME_CHARACTERS = 64

/** Control, format and separator characters rewrite what a reader sees; quotation marks end a name. */
const REFUSED = /[\p{C}\p{Zl}\p{Zp}"“”„‟]/u
const isOrganization = validatorOf(organizationId)

/** Why a text cannot be the name of an organization, and what to do; undefined where it can. */
export function nameFault(name: string): string | undefined {
  if (name.trim() !== name || name === '')
    return 'A name is not empty, and neither starts nor ends with a space.'
  if (name.length > MAXIMUM_NAME_CHARACTERS)
    return `A name has at most ${MAXIMUM_NAME_CHARACTERS} characters. Shorten it.`
  if (REFUSED.test(name) || !name.isWellFormed())
    return 'A name has no control or format characters and no quotation marks. Leave them out.'
  return undefined
}

/** Why a value is no address book; undefined where it is one. */
export function addressBookFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'Names are a JSON object: organization ids, each with a name.'
  const entries = Object.entries(value)
  if (entries.length > MAXIMUM_NAMES) return `There are more than ${MAXIMUM_NAMES} names.`
  for (const [id, name] of entries) {
    if (!isOrganization.accepts(id)) return 'A name is given to something that is no organization id (org_…).'
    const fault = typeof name === 'string' ? nameFault(name) : 'A name is a text.'
    if (fault !== undefined) return `${id}: ${fault}`
  }
  return undefined
}

/** For whom a verdict is written who has these names. */
export function readerWith(names: AddressBook): Reader {
  return { nameOf: (id) => (Object.hasOwn(names, id) ? names[id] : undefined) }
}
