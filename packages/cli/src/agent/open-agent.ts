import { readFileSync } from 'node:fs'
import type { Approve, KeyChange } from '@agent-exchange/sdk'
import { connectFolder, createTlsFetch, type FolderAgent } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'
import { explained } from './agent-failure.ts'
import type { AgentOptions } from './agent-options.ts'
import { ask } from './ask.ts'
import { passphraseFrom } from './passphrase.ts'

/** Connects the agent of a folder, does the work, and closes its files whatever happens. */
export async function withAgent<T>(
  options: AgentOptions & { readonly approve?: Approve; readonly lazily?: boolean },
  work: (agent: FolderAgent) => Promise<T>,
): Promise<T> {
  const { dir, url, client, passphraseFile, ca, approve, lazily = false } = options
  const passphrase = passphraseFrom(passphraseFile)
  const tls = ca === undefined ? undefined : createTlsFetch({ ca: readAuthority(ca) })
  return explained(async () => {
    try {
      await using agent = await connectFolder(dir, {
        confirmKey,
        lazily,
        ...(url !== undefined && { baseUrl: url }),
        ...(client !== undefined && { clientId: client }),
        ...(passphrase !== undefined && { passphrase }),
        ...(tls && { fetch: tls.fetch }),
        ...(approve && { approve }),
      })
      return await work(agent)
    } finally {
      await tls?.close()
    }
  })
}

function readAuthority(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new CommandFailure(`The authority ${file} cannot be read.`)
  }
}

/** At a terminal a person decides about a key that nothing vouches for; elsewhere it is refused. */
async function confirmKey({ agentId, pinned, offered }: KeyChange): Promise<boolean> {
  const known = pinned.filter(({ use }) => use === offered.use)
  const lines = [
    `The ${offered.use} key of ${agentId} has changed, and no key that you know introduced the new one.`,
    ...known.map(({ fingerprint }) => `  known    ${fingerprint}`),
    `  offered  ${offered.fingerprint}`,
    'Compare it with the owner of the agent over another channel.',
  ]
  return ask(lines.join('\n'), 'Trust the offered key? Type "yes": ', (answer) => answer === 'yes')
}
