/** Limits of MCP over HTTP. The size of a message is that of packages/mcp. */

/** A request and its stream, and so how long a stream outlives its token. Longer than the longest wait of a tool. */
export const MAXIMUM_EXCHANGE_MS = 120_000
/** Requests of one client, per instance. */
export const REQUESTS_PER_MINUTE = 600
export const MAXIMUM_RUNNING_REQUESTS = 16
/** Calls of one client for one agent that run at the same time. */
export const MAXIMUM_RUNNING_CALLS = 8
/** Clients whose calls are counted. With more, the longest unused one is forgotten. */
export const MAXIMUM_COUNTED_CLIENTS = 1_000
