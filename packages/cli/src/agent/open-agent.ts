import type { Approve, DeploymentChange, Fetch, KeyChange } from '@agent-exchange/sdk'
import { connectFolder, createTlsFetch, type FolderAgent } from '@agent-exchange/sdk/node'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { readPem } from '../pem-file.ts'
import { explained } from './agent-failure.ts'
import type { AgentOptions } from './agent-options.ts'
import { ask } from './ask.ts'
import { dataSpaceOf } from './folder-connector.ts'
import { changeLine } from './deployment-change.ts'
import { linesOfChange } from './key-change.ts'
import type { Place } from './next-step.ts'
import { passphraseFrom } from './passphrase.ts'

/** Connects the agent of a folder, runs the work, and closes its files. */
export async function withAgent<T>(
  options: AgentOptions & {
    readonly approve?: Approve
    readonly lazily?: boolean
    /** Nobody is asked anything: standard input belongs to a protocol. */
    readonly unattended?: boolean
  },
  work: (agent: FolderAgent, exchangeFetch: Fetch) => Promise<T>,
): Promise<T> {
  const { dir, url, client, passphraseFile, ca, approve, lazily = false, unattended = false } = options
  const passphrase = passphraseFrom(passphraseFile)
  const tls = ca === undefined ? undefined : createTlsFetch({ ca: readPem(ca) })
  return explained(options, async () => {
    try {
      const dataSpace = await dataSpaceOf(await openAgentFolder(dir), options)
      await using agent = await connectFolder(dir, {
        ...(!unattended && { confirmKey: (change) => confirmKey(change, options) }),
        lazily,
        onDeploymentChange: sayChange,
        ...(url !== undefined && { baseUrl: url }),
        ...(client !== undefined && { clientId: client }),
        ...(passphrase !== undefined && { passphrase }),
        ...(tls && { fetch: tls.fetch }),
        ...(approve && { approve }),
        ...(dataSpace && { dataSpace }),
      })
      return await work(agent, tls?.fetch ?? fetch)
    } finally {
      await tls?.close()
    }
  })
}

/** On stderr: standard output belongs to the result. */
function sayChange({ changes }: DeploymentChange): void {
  console.error('The exchange changed how it decides open points:')
  for (const change of changes) console.error(changeLine(change))
}

/** At a terminal, a person confirms a key without an introduction. Elsewhere it is refused. */
async function confirmKey(change: KeyChange, place: Place): Promise<boolean> {
  const explanation = linesOfChange(change, place).join('\n')
  return ask(explanation, 'Or trust it now? Type "yes": ', (answer) => answer === 'yes')
}
