import { text } from 'node:stream/consumers'
import { createTlsFetch, joinExchange, type JoinedExchange } from '@agent-exchange/sdk/node'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { caOption, folderCommandOf, passphraseOption } from '../../agent/agent-options.ts'
import { readConnector } from '../../agent/connector-settings.ts'
import { nextStep, type Place } from '../../agent/next-step.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'
import { skillsOption, type SkillVersions } from '../../agent/skill-option.ts'
import { readPem } from '../../pem-file.ts'
import { visibleJson } from '../../visible.ts'

interface JoinOptions {
  readonly dir: string
  readonly agent?: string
  readonly skill: SkillVersions
  readonly passphraseFile?: string
  readonly ca?: string
  readonly json?: boolean
}

export function agentJoinCommand(): Command {
  return folderCommandOf(
    'join',
    'Join an exchange by an invitation: creates the keys, the client and the registration',
    'join aexinv_eyJ2…',
    'join aexinv_eyJ2… --dir ./planner',
    'join - < invitation.txt        (keeps the secret out of the shell history)',
  )
    .argument('<invitation>', 'text from the operator of the exchange; - reads standard input')
    .option('--agent <agent_id>', 'id of the agent (default: that of the invitation, or a new one)')
    .addOption(skillsOption())
    .addOption(passphraseOption())
    .addOption(caOption())
    .addHelpText('after', '\nIf it fails half-way, run it again: it continues with the same keys.')
    .action(join)
}

async function join(given: string, options: JoinOptions): Promise<void> {
  const { dir, agent, skill, passphraseFile, ca, json } = options
  const passphrase = passphraseFrom(passphraseFile)
  const invitation = given === '-' ? await text(process.stdin) : given
  const tls = ca === undefined ? undefined : createTlsFetch({ ca: readPem(ca) })
  const transportModes = (await hasConnector(dir)) ? (['native', 'ds_x'] as const) : (['native'] as const)
  const place: Place = {
    dir,
    ...(passphraseFile !== undefined && { passphraseFile }),
    ...(ca !== undefined && { ca }),
  }
  try {
    const joined = await explained(place, () =>
      joinExchange(dir, {
        invitation,
        registration: {
          implementation: 'aex',
          implementationVersion: '0.1.0',
          skillVersions: skill,
          transportModes,
        },
        ...(agent !== undefined && { agentId: agent }),
        ...(passphrase !== undefined && { passphrase }),
        ...(tls && { fetch: tls.fetch }),
      }),
    )
    if (json) console.log(visibleJson({ ...joined.agent, ...accessOf(joined), folder: dir }))
    else report(joined, place)
  } finally {
    await tls?.close()
  }
}

/** An agent that joins again keeps its connector. */
async function hasConnector(dir: string): Promise<boolean> {
  const known = await openAgentFolder(dir).catch(() => undefined)
  return known !== undefined && (await readConnector(known)) !== undefined
}

function accessOf({ baseUrl, clientId, fingerprint }: JoinedExchange) {
  return { base_url: baseUrl, client_id: clientId, fingerprint }
}

function report({ agent, baseUrl, clientId, fingerprint }: JoinedExchange, place: Place): void {
  console.log(`${agent.agent_id} of ${agent.organization_id} has joined ${baseUrl}`)
  console.log(`  folder       ${place.dir ?? ''}`)
  console.log(`  client       ${clientId}`)
  console.log(`  fingerprint  ${fingerprint}`)
  console.log(`  look         ${nextStep(place, 'doctor')}`)
}
