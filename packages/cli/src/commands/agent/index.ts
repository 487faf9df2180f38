import type { Command } from 'commander'
import { agentAdminCommands } from '../operator/agent-admin.ts'
import { group } from '../operator/operator-command.ts'
import { agentDoctorCommand } from './doctor.ts'
import { agentFingerprintCommand, agentPeersCommand, agentTrustCommand } from './fingerprint.ts'
import { agentInboxCommand, agentListenCommand } from './inbox.ts'
import { agentInitCommand } from './init.ts'
import { agentKeysCommand } from './keys.ts'
import { agentOpenCommand, agentRevokeCommand } from './open.ts'
import { agentRegisterCommand } from './register.ts'
import { agentRespondCommand, agentResumeCommand, agentSendCommand } from './send.ts'
import { agentEvidenceCommand, agentThreadCommand } from './thread.ts'
import { agentTokenCommand } from './token.ts'

/** What an agent's developer does, and what an operator does with agents. */
export function agentCommand(): Command {
  return group('agent', 'Agents: make, register and use one, or operate on those of the exchange', [
    agentInitCommand(),
    agentRegisterCommand(),
    agentDoctorCommand(),
    agentSendCommand(),
    agentRespondCommand(),
    agentOpenCommand(),
    agentRevokeCommand(),
    agentInboxCommand(),
    agentListenCommand(),
    agentThreadCommand(),
    agentEvidenceCommand(),
    agentResumeCommand(),
    agentFingerprintCommand(),
    agentTrustCommand(),
    agentPeersCommand(),
    agentKeysCommand(),
    agentTokenCommand(),
    ...agentAdminCommands(),
  ])
}
