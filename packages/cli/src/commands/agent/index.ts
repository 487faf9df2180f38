import type { Command } from 'commander'
import { agentAdminCommands } from '../operator/agent-admin.ts'
import { renamed } from '../../renamed-command.ts'
import { group, under } from '../operator/operator-command.ts'
import { agentAdoptCommand } from './adopt.ts'
import { agentApproverCommand } from './approver.ts'
import { agentConnectorCommand } from './connector.ts'
import { agentDataAddressCommand } from './data-address.ts'
import { agentDeskCommand } from './desk.ts'
import { agentDefaultsCommand } from './defaults.ts'
import { agentDoctorCommand } from './doctor.ts'
import { agentDraftCommand } from './draft.ts'
import { agentEvidenceCommand } from './evidence.ts'
import { agentFingerprintCommand } from './fingerprint.ts'
import { agentInboxCommand } from './inbox.ts'
import { agentInitCommand } from './init.ts'
import { agentJoinCommand } from './join.ts'
import { agentKeysCommand } from './keys.ts'
import { agentListenCommand } from './listen.ts'
import { agentMcpCommand } from './mcp.ts'
import { agentNameCommand } from './name.ts'
import { agentOpenCommand } from './open.ts'
import { agentPeersCommand } from './peers.ts'
import { agentReceiveCommand } from './receive.ts'
import { agentRegisterCommand } from './register.ts'
import { agentRespondCommand } from './respond.ts'
import { agentResumeCommand } from './resume.ts'
import { agentRevokeCommand } from './revoke.ts'
import { agentRulesCommand } from './rules.ts'
import { agentSendCommand } from './send.ts'
import { agentTestEventCommand } from './test-event.ts'
import { agentThreadCommand } from './thread.ts'
import { agentTokenCommand } from './token.ts'
import { agentTrustCommand } from './trust.ts'

/** Commands of an agent developer, and operator commands for agents. */
export function agentCommand(): Command {
  return group(
    'agent',
    'Create, register and use an agent, or administer agents of the exchange',
    [
      ...under(
        'Set up an agent:',
        agentJoinCommand(),
        agentInitCommand(),
        agentRegisterCommand(),
        agentDefaultsCommand(),
        agentDoctorCommand(),
        agentTokenCommand(),
        agentAdoptCommand(),
      ),
      ...under(
        'Send and answer:',
        agentSendCommand(),
        agentRespondCommand(),
        agentRevokeCommand(),
        agentResumeCommand(),
      ),
      ...under(
        'Receive and open:',
        agentInboxCommand(),
        agentReceiveCommand(),
        agentListenCommand(),
        agentTestEventCommand(),
        agentOpenCommand(),
        agentThreadCommand(),
        agentEvidenceCommand(),
      ),
      ...under(
        'With people and language models:',
        agentDraftCommand(),
        agentApproverCommand(),
        agentDeskCommand(),
        agentMcpCommand(),
      ),
      ...under(
        'Keys and trust:',
        agentKeysCommand(),
        agentFingerprintCommand(),
        agentTrustCommand(),
        agentNameCommand(),
        agentPeersCommand(),
        agentRulesCommand(),
      ),
      ...under('Data space:', agentConnectorCommand(), agentDataAddressCommand()),
      ...under('For operators of the exchange:', ...agentAdminCommands()),
    ],
    [
      renamed(agentReceiveCommand(), 'take', 'aex agent receive'),
      renamed(agentTestEventCommand(), 'trigger', 'aex agent test-event'),
    ],
  )
}
