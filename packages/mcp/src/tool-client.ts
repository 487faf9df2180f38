import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  isCallToolResult,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  LATEST_PROTOCOL_VERSION,
  type CallToolResult,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { MAXIMUM_MESSAGE_BYTES } from './mcp-limits.ts'

/** As clients do, which give up on a call after 60 seconds. */
const CALL_MS = 60_000
/** A server that does not end after its standard input was closed is killed. */
const STOP_MS = 5_000

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Defaults to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A client of one server over standard streams. It calls tools, and offers no capability to the server. */
export interface ToolClient extends AsyncDisposable {
  callTool(name: string, args: object): Promise<CallToolResult>
}

/**
 * Starts a server as a process and initializes the session. For scripted models; a real one uses the client of its
 * application.
 *
 * @example
 * await using client = await startToolClient({ command: 'aex', args: ['agent', 'mcp', '--dir', './planner'] })
 * await client.callTool('list_inbox', {})
 */
export async function startToolClient({ command, args, env }: ServerCommand): Promise<ToolClient> {
  const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'ignore'], ...(env && { env }) })
  const ended = once(child, 'close').catch(() => undefined)
  // The transport of a server reads from one stream and writes to another, in either direction.
  const transport = new StdioServerTransport(child.stdout, child.stdin, {
    maxBufferSize: MAXIMUM_MESSAGE_BYTES,
  })
  const request = requestsOver(transport)
  const stop = () => stopProcess(child, ended)
  try {
    await transport.start()
    await request('initialize', {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: 'agent-exchange-scripted-model', version: '1' },
    })
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    async callTool(name, toolArguments) {
      const result = await request('tools/call', { name, arguments: toolArguments })
      if (!isCallToolResult(result)) throw new Error(`the result of ${name} is not a tool result`)
      return result
    },
    [Symbol.asyncDispose]: stop,
  }
}

interface PendingRequest {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Requests of JSON-RPC 2.0 over a transport. Each ends with a result, an error, or at its time limit. */
function requestsOver(transport: StdioServerTransport) {
  const pending = new Map<number, PendingRequest>()
  let lastId = 0
  const take = ({ id }: { readonly id?: unknown }) => {
    const found = typeof id === 'number' ? pending.get(id) : undefined
    if (typeof id === 'number') pending.delete(id)
    return found
  }
  // The transport is not an EventTarget: it has these two members only.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message: JSONRPCMessage) => {
    if (isJSONRPCResultResponse(message)) take(message)?.resolve(message.result)
    else if (isJSONRPCErrorResponse(message)) take(message)?.reject(new Error(message.error.message))
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onclose = () => {
    for (const { reject } of pending.values()) reject(new Error('the MCP server has ended'))
    pending.clear()
  }
  return async (method: string, params: Record<string, unknown>): Promise<unknown> => {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const late = setTimeout(() => {
      pending.delete(id)
      reject(new Error(`the MCP server did not answer ${method} in ${CALL_MS / 1_000} seconds`))
    }, CALL_MS)
    pending.set(id, { resolve, reject })
    // A failed write also closes the transport, which rejects the request.
    transport.send({ jsonrpc: '2.0', id, method, params }).catch(reject)
    return promise.finally(() => clearTimeout(late))
  }
}

async function stopProcess(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.stdin?.end()
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(late)
}
