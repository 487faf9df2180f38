import { once } from 'node:events'
import { createServer } from 'node:net'
import { CommandFailure } from './failure.ts'

export interface Listener {
  readonly host: string
  readonly port: number
  /** The variables that set it. */
  readonly variables: string
}

/** Before a database is started for nothing: whether each address can be listened on. */
export async function requireFreePorts(listeners: readonly Listener[]): Promise<void> {
  for (const { host, port, variables } of listeners) {
    const server = createServer().listen(port, host)
    try {
      await once(server, 'listening')
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      throw new CommandFailure(
        `${reason(code, host, port)} (${code}). Set ${variables} to a free port or address.`,
      )
    }
    server.close()
    await once(server, 'close')
  }
}

function reason(code: string, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken by another program`
  if (code === 'EACCES') return `This user may not listen on port ${port} of ${host}`
  return `The address ${host}:${port} cannot be listened on`
}
