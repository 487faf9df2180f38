import type { Database, Queries, Transaction } from '@agent-exchange/database'
import { addressBookFault, type AddressBook } from '@agent-exchange/log'
import { ExchangeError } from '@agent-exchange/sdk'
import { recordedChange, type ByActor } from '../people/administration-record.ts'
import { changeSettings, listAgents } from './agent-registry.ts'

/** The company's own names of organizations, for people. Each agent keeps them; the gateway shows those of all. */
export async function readAddressBook(db: Queries): Promise<AddressBook> {
  const agents = await listAgents(db)
  return Object.assign({}, ...agents.map(({ settings }) => settings.names)) as AddressBook
}

/** Undefined removes the name. */
export async function setOrganizationName(
  db: Database,
  organizationId: string,
  name: string | undefined,
  by: ByActor,
): Promise<AddressBook> {
  const details = { name: name ?? null }
  const change = async (tx: Transaction) => {
    const { [organizationId]: _, ...others } = await readAddressBook(tx)
    const names = name === undefined ? others : { ...others, [organizationId]: name }
    const what = addressBookFault(names)
    if (what !== undefined) throw new ExchangeError('input_invalid', { what })
    const changed = await changeSettings(tx, (settings) => ({ ...settings, names }))
    if (changed === 0)
      throw new ExchangeError('input_invalid', {
        what: 'The gateway has no agent yet that could keep the name. Add one first: aex gateway agent add.',
      })
    return names
  }
  return recordedChange(db, by, change, () => ({ action: 'name.set', target: organizationId, details }))
}
