/** A SendMessage of A2A 1.0, as its JSON-RPC binding spells it, with this in it. */
export function sendMessage(id: string, data: unknown): object {
  return {
    jsonrpc: '2.0',
    id,
    method: 'SendMessage',
    params: {
      message: { messageId: id, role: 'ROLE_USER', parts: [{ data, mediaType: 'application/json' }] },
      configuration: { returnImmediately: true },
    },
  }
}
