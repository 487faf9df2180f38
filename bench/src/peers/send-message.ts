/** A SendMessage request of A2A 1.0 in its JSON-RPC binding, with this content. */
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
