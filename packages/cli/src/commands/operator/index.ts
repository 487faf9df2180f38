import type { Command } from 'commander'
import { alertCommand } from './alert.ts'
import { clientCommand } from './client.ts'
import { connectorCommand } from './connector.ts'
import { deliveryCommand } from './delivery.ts'
import { endpointCommand } from './endpoint.ts'
import { keysCommand } from './keys.ts'
import { operatorsCommand } from './operator.ts'
import { orgCommand } from './org.ts'
import { skillCommand } from './skill.ts'

/** Commands that talk to the operator API. */
export function operatorCommands(): Command[] {
  return [
    orgCommand(),
    clientCommand(),
    connectorCommand(),
    skillCommand(),
    keysCommand(),
    endpointCommand(),
    deliveryCommand(),
    alertCommand(),
    operatorsCommand(),
  ]
}
