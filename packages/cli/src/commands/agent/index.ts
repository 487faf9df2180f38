import type { Command } from 'commander'
import { agentInitCommand } from './init.ts'
import { agentRegisterCommand } from './register.ts'
import { agentTokenCommand } from './token.ts'

/** What an agent's developer does: the other part of `aex agent`. */
export function agentCommands(): Command[] {
  return [agentInitCommand(), agentRegisterCommand(), agentTokenCommand()]
}
