/** Limits of the MCP server. A request above one of them is refused before any work is done. */

/** One JSON-RPC message, over HTTP and over standard input. */
export const MAXIMUM_MESSAGE_BYTES = 2_097_152

/** Answers that a client on standard streams has not read. Above it, nothing more is read from the client. */
export const MAXIMUM_UNREAD_BYTES = 1_048_576

/** Text of a package that a tool returns. A larger one is for a person, or for a program with the SDK. */
export const MAXIMUM_CONTENT_CHARACTERS = 262_144

/** The report of a verified capsule that a tool returns. */
export const MAXIMUM_REPORT_CHARACTERS = 65_536

/** A capsule that a model passes as text. */
export const MAXIMUM_CAPSULE_CHARACTERS = 1_048_576

/** Calls that run at the same time, over all clients. */
export const MAXIMUM_RUNNING_CALLS = 16

/** Entries that one list returns. */
export const MAXIMUM_LISTED = 200

/** Events that the list of threads is made from. */
export const MAXIMUM_SCANNED_EVENTS = 5_000

/** Packages of a thread that one call returns. */
export const MAXIMUM_THREAD_PACKAGES = 500

/** Longest wait for a change of a thread. Clients give up on a call after 60 seconds. */
export const MAXIMUM_FOLLOW_SECONDS = 50
export const FOLLOW_POLL_MS = 1_000

/** Policy files of a folder. */
export const MAXIMUM_POLICIES = 50
export const MAXIMUM_POLICY_BYTES = 65_536

/** Connections and time limits of the HTTP listener. */
export const HTTP_LIMITS = {
  connections: 64,
  headersMs: 10_000,
  /** Time for the whole request to arrive. */
  requestMs: 30_000,
} as const

/** Streams of change notifications that are open at the same time. */
export const MAXIMUM_SUBSCRIPTIONS = 64
