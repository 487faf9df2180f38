import type { Command } from 'commander'
import { agentAdminCommands } from '../operator/agent-admin.ts'
import { group } from '../operator/operator-command.ts'
import { agentInitCommand } from './init.ts'
import { agentRegisterCommand } from './register.ts'
import { agentTokenCommand } from './token.ts'

/** What an agent's developer does, and what an operator does with agents. */
export function agentCommand(): Command {
  return group('agent', 'Agents: make and register one, or operate on those of the exchange', [
    agentInitCommand(),
    agentRegisterCommand(),
    agentTokenCommand(),
    ...agentAdminCommands(),
  ])
}
