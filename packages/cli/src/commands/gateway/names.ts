import { readAddressBook, setOrganizationName } from '@agent-exchange/gateway'
import type { Command } from 'commander'
import { ADDRESS_BOOK_COMMAND, withNames } from '../../address-book-command.ts'
import { actorOf } from './actor.ts'
import { gatewayLeaf } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

export function gatewayNameCommand(): Command {
  const command = gatewayLeaf(
    'name',
    ADDRESS_BOOK_COMMAND,
    'name',
    'name org_cars "Cars Ltd"',
    'name org_cars --remove',
  )
  return withNames(command, (organizationId, name) =>
    withGateway(({ db, now }) =>
      organizationId === undefined
        ? readAddressBook(db)
        : setOrganizationName(db, organizationId, name, { actor: actorOf(), now: now() }),
    ),
  )
}
